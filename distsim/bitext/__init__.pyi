from distsim.bitext.aligner import AlignerOptions as AlignerOptions
from distsim.bitext.bitext import Bitext as Bitext
from distsim.bitext.bitext_builder import build_bitext as build_bitext
from distsim.bitext.sentence_pairs import BitextOptions as BitextOptions
