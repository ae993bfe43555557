"""Permitted values of arguments: one list for the library and the command line.

Imports nothing else of distsim, so that `distsim --help` need not import the library to name them.
"""

from typing import Literal

# Corpora and their lines.
TextFormat = Literal["lines", "text"]
FileFormat = Literal[
    "auto", "text", "lines", "jsonl", "csv", "tsv", "parquet", "html", "conllu", "vertical", "tei",
    "docbook", "alto", "subtitles", "docx",
]  # fmt: skip
InlineTags = Literal["drop", "keep"]
PairDedup = Literal["off", "exact"]
Dedup = Literal["off", "exact", "near", "near-lines"]
FieldType = Literal["int", "float", "date", "text"]  # in the order in which they are inferred
Order = Literal["corpus", "left", "right"]
Matching = Literal["shortest", "longest", "all"]  # as distsim.indexes.kernels.queries has them
Layer = Literal["word", "lemma", "tag", "upos", "relation"]  # what tokens of annotated text have
AssociationMeasure = Literal["log-dice", "llr", "llr-2", "mi", "t", "z"]
KeywordMeasure = Literal["llr-2", "llr", "log-ratio"]
RelationSide = Literal["head", "dependent", "either"]  # of the word of a sketch
Tool = Literal["stanza", "spacy"]

# Signatures and what they are compared by.
ModelName = Literal["ngram", "syntax"]
SignPreset = Literal["learned", "thesis", "syntax", "syntax-learned", "vectors"]
SourceKind = Literal["index", "counts", "annotated", "vectors"]
EstimateName = Literal["bits", "restored"]
ExportFormat = Literal["w2v", "w2v-bin", "parquet", "csv"]

# Bitexts and the rules made of them.
Symmetrisation = Literal["grow-diag-final-and", "intersection"]
ExtractPreset = Literal["phrases", "moses", "hiero", "samt", "ppdb"]
RuleFormat = Literal["joshua", "moses"]
TargetText = Literal["first", "second"]  # of a bitext's two texts
Labels = Literal["none", "thesis", "slashes", "constituents", "every"]
LabelChoice = Literal["best", "average", "any"]
Unlabelled = Literal["keep", "drop-gappy", "drop"]
Chains = Literal["top", "bottom"]
LexicalNames = Literal["plain", "ppdb"]

# Grammars.
OnError = Literal["stop", "keep", "drop"]
Align = Literal["missing", "all", "none"]
Aligner = Literal["learned", "evidence"]
PhrasePairs = Literal["thesis", "reference"]
ScoreNames = Literal["distsim", "ppdb"]
FeatureStyle = Literal["auto", "named", "bare"]
ProbabilityScale = Literal["probability", "negative-log", "log", "negative-log10", "log10"]
Columns = Literal["joint", "conditional"]
Identities = Literal["mark", "drop"]
PivotEstimate = Literal["pivot", "counts", "mean"]
ParaphrasedSide = Literal["english", "other"]
Aggregation = Literal["none", "best", "add", "average", "update"]
AddedScores = Literal["one", "two"]
Copies = Literal["rules", "decoder"]
Compression = Literal["gz", "zst"]

PairKind = Literal["content", "inflection", "function"]

# Paraphrases.
ParaphrasePreset = Literal["default", "thorough", "marton"]
# What becomes of opposites of the focal phrase: below the others, left out, or as they rank.
OppositesPlace = Literal["last", "out", "ranked"]
Entailment = Literal["off", "contained", "containing", "both"]

# Weights of a rewriter.
ObjectiveName = Literal["sari", "bleu", "precis"]
