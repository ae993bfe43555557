from distsim.comparison.finder.word_neighbours import WordNeighbour as WordNeighbour
from distsim.comparison.finder.word_neighbours import WordNeighbours as WordNeighbours
from distsim.comparison.finder.word_neighbours import neighbours as neighbours
from distsim.comparison.finder.word_profiles import build_finder as build_finder
from distsim.comparison.finder.word_substitutes import FoundWord as FoundWord
from distsim.comparison.finder.word_substitutes import WordSubstitutes as WordSubstitutes
from distsim.paraphrase.augment import AugmentOptions as AugmentOptions
from distsim.paraphrase.augment import AugmentReport as AugmentReport
from distsim.paraphrase.augment import augment_phrase_table as augment_phrase_table
from distsim.paraphrase.paraphraser import Answer as Answer
from distsim.paraphrase.paraphraser import Paraphrase as Paraphrase
from distsim.paraphrase.paraphraser import Paraphraser as Paraphraser
from distsim.paraphrase.paraphrasing_options import ParaphraseOptions as ParaphraseOptions
from distsim.paraphrase.profiles import KindCosine as KindCosine
from distsim.paraphrase.records import ParaphraseStream as ParaphraseStream
from distsim.paraphrase.records import paraphrase_phrases as paraphrase_phrases
from distsim.paraphrase.rewriting.language_model import ArpaModel as ArpaModel
from distsim.paraphrase.rewriting.language_model import IndexModel as IndexModel
from distsim.paraphrase.rewriting.rewriter import Rewriter as Rewriter
from distsim.paraphrase.rewriting.rewriter import Rewriting as Rewriting
from distsim.paraphrase.rewriting.rewriting_options import RewriteOptions as RewriteOptions
from distsim.paraphrase.rewriting.rewriting_options import Weights as Weights
from distsim.paraphrase.substitution.substitute_candidates import Mix as Mix
from distsim.paraphrase.substitution.substituter import Substitute as Substitute
from distsim.paraphrase.substitution.substituter import Substituter as Substituter
from distsim.paraphrase.unknown_words.translator import Monolingual as Monolingual
from distsim.paraphrase.unknown_words.translator import RankedTranslation as RankedTranslation
from distsim.paraphrase.unknown_words.translator import UnknownWord as UnknownWord
from distsim.paraphrase.unknown_words.translator import UnknownWordOptions as UnknownWordOptions
from distsim.paraphrase.unknown_words.translator import UnknownWordReport as UnknownWordReport
from distsim.paraphrase.unknown_words.translator import (
    augment_unknown_words as augment_unknown_words,
)
