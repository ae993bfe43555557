from distsim.cluster.annotation import annotate_on_spark as annotate_on_spark
from distsim.cluster.executors import SparkOptions as SparkOptions
from distsim.cluster.executors import sign_on_spark as sign_on_spark
from distsim.cluster.plan import Division as Division
from distsim.cluster.plan import PlanOptions as PlanOptions
