from distsim.corpus.annotated import read_annotated as read_annotated
from distsim.corpus.annotating import annotate as annotate
from distsim.corpus.annotators import SpacyAnnotator as SpacyAnnotator
from distsim.corpus.annotators import StanzaAnnotator as StanzaAnnotator
from distsim.corpus.documents import Document as Document
from distsim.corpus.inflections import Inflections as Inflections
from distsim.corpus.normaliser import Normaliser as Normaliser
