from distsim.bitext.aligner import AlignerOptions as AlignerOptions
from distsim.bitext.bitext import Bitext as Bitext
from distsim.bitext.build import build_bitext as build_bitext
from distsim.bitext.reading import BitextOptions as BitextOptions
