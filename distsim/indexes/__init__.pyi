from distsim.indexes.build import IndexOptions as IndexOptions
from distsim.indexes.collocation import Collocate as Collocate
from distsim.indexes.collocation import collocates as collocates
from distsim.indexes.corpus_index import ConcordanceLine as ConcordanceLine
from distsim.indexes.corpus_index import CorpusIndex as CorpusIndex
