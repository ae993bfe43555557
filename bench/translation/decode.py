"""Translates the sentences of standard input by a phrase table, without a decoder installed.

    python bench/translation/decode.py TABLE TEXT < sentences

TABLE: a Moses phrase table, with the score that `distsim augment --unknown` adds or without. TEXT:
of the target language, tokenised as the table is, for the language model (trigrams). The weights
are those with which experiment.py begins to tune, so this shows what the rules do, not how well a
tuned system translates.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from decoder import Decoder, Table
from experiment import first_weights
from frame import parser
from language_model import LanguageModel

REORDERING = 4  # words


def main() -> None:
    options = parser(__doc__)
    options.add_argument("table", type=Path)
    options.add_argument("text", type=Path)
    given = options.parse_args()
    with open(given.text, encoding="utf-8") as lines:
        model = LanguageModel(line.split() for line in lines)
    sentences = [line.split() for line in sys.stdin]
    table = Table(given.table, model, sentences)
    decoder = Decoder(table, model, first_weights(table)[0], REORDERING)
    for words in sentences:
        print(*(decoder.translate(words)[0].words if words else ()))


if __name__ == "__main__":
    main()
