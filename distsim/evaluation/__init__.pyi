from distsim.evaluation.correlations import Result as Result
from distsim.evaluation.correlations import evaluate as evaluate
from distsim.evaluation.gold import GoldSet as GoldSet
from distsim.evaluation.gold import read_gold as read_gold
