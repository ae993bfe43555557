from distsim.corpus.annotated import read_annotated as read_annotated
from distsim.corpus.annotating import annotate as annotate
from distsim.corpus.documents import Document as Document
from distsim.corpus.inflections import Inflections as Inflections
from distsim.corpus.normaliser import Normaliser as Normaliser
from distsim.corpus.spacy_text import SpacyAnnotator as SpacyAnnotator
from distsim.corpus.stanza_text import StanzaAnnotator as StanzaAnnotator
