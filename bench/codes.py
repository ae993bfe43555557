"""Which 32 bytes keep most of a phrase's vector? Rotated signs, product quantisation, learnt codes.

Measured against: faiss's product quantiser (Jegou et al. 2011), the same behind its learnt rotation
(OPQ, Ge et al. 2013) and its residual quantiser, an additive code (Chen et al. 2010). Ours: signs
behind the rotation by iterative quantisation, behind a random one, and what a table restores of
its signs and its words' vectors (more bytes: told). All codes are of the real-valued vectors of the
default table's words, from which the others are learnt, and of judged phrases as made of words.

Prints, as a Markdown table: the root of the mean squared error of the cosine where both sides are
coded and where one is (scaled to fit), how many of the ten nearest words are among the ten nearest
by codes, CPU seconds to learn, milliseconds to go through as many codes as the table has phrases,
and Spearman with people where both sides are coded. The index must be signed by the default.

    pip install -e '.[bench]'
    python bench/codes.py INDEX GOLD... [--queries 1000]
"""

import argparse
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from people import agreement, parts_of

from distsim import SignatureTable
from distsim.comparison.measures import EstimatedCosine
from distsim.evaluation.gold import read_gold
from distsim.signatures.projections.singular import one_thread_each

N_BYTES = 32
NEAR, AMONG, DRAWN = 12, 100, 4  # pairs of a query: near ones out of so many, drawn ones
TEN, QUERIES = 10, 16
TAUGHT = 20_000  # words from which a code is learnt


class Code(NamedTuple):
    """decoded: float32[n, k] -> float32[n, m]; its cosines estimate those of what was coded.

    searcher: vectors, how many -> what goes through so many codes for 16 queries; None where that
    is not measured. spread: makes of a cosine of two decoded vectors one of what was coded.
    """

    name: str
    decoded: Callable[[np.ndarray], np.ndarray]
    searcher: Callable[[np.ndarray, int], Callable[[], object]] | None
    spread: Callable[[np.ndarray], np.ndarray] = lambda cosine: cosine


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def cosine_of_signs(agreeing: np.ndarray) -> np.ndarray:
    """The cosine that so much agreement of signs, -1 to 1, is expected at."""
    return np.sin(math.pi / 2 * agreeing)


def signs(name: str, turn: np.ndarray | None, n_bits: int) -> Code:
    import faiss

    def cut(rows: np.ndarray) -> np.ndarray:
        some = rows[:, :n_bits] if turn is None else rows[:, :n_bits] @ turn
        return np.where(some > 0, np.float32(1), np.float32(-1))

    def searcher(rows: np.ndarray, n: int) -> Callable[[], object]:
        index = faiss.IndexBinaryFlat(n_bits)
        packed = np.packbits(cut(rows) > 0, axis=1)
        index.add(np.resize(packed, (n, n_bits // 8)))
        return lambda: index.search(packed[:QUERIES], TEN)

    def decoded(rows: np.ndarray) -> np.ndarray:
        cut_rows = cut(rows) / np.float32(math.sqrt(n_bits))
        return cut_rows if turn is None else cut_rows @ turn.T

    return Code(name, decoded, searcher, cosine_of_signs)


def quantised(name: str, words: np.ndarray) -> Code:
    import faiss

    d = words.shape[1]
    taught = words[:: max(1, len(words) // TAUGHT)]
    turn: Any = None
    if name == "residual quantiser":
        made = faiss.ResidualQuantizer(d, N_BYTES, 8)
        made.max_beam_size = 1  # wider ones take hours
    else:
        made = faiss.ProductQuantizer(d, N_BYTES, 8)
        if name.startswith("OPQ"):
            turn = faiss.OPQMatrix(d, N_BYTES)
            turn.niter = 10  # of 50: minutes
            turn.train(taught)
    made.train(taught if turn is None else turn.apply(taught))

    def decoded(rows: np.ndarray) -> np.ndarray:
        some = np.ascontiguousarray(rows, np.float32)
        if turn is None:
            return made.decode(made.compute_codes(some))
        return turn.reverse_transform(made.decode(made.compute_codes(turn.apply(some))))

    def searcher(rows: np.ndarray, n: int) -> Callable[[], object]:
        index = faiss.IndexPQ(d, N_BYTES, 8, faiss.METRIC_INNER_PRODUCT)
        index.pq, index.is_trained = made, True
        index.add(np.resize(rows[:QUERIES], (n, d)))
        return lambda: index.search(rows[:QUERIES], TEN)

    return Code(name, decoded, searcher if name == "product quantiser" else None)


def main() -> None:
    import faiss

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("index")
    parser.add_argument("gold", nargs="+", type=Path)
    parser.add_argument("--queries", type=int, default=1000)
    asked = parser.parse_args()
    faiss.omp_set_num_threads(1)
    table = SignatureTable.open(asked.index)
    assert table.parts is not None
    words = unit(table.parts.vectors.astype(np.float32))
    rng = np.random.default_rng(1)
    turn = np.linalg.qr(rng.standard_normal((table.n_bits, table.n_bits)))[0].astype(np.float32)

    queries = rng.choice(len(words), min(asked.queries, len(words)), replace=False)
    cosines = words[queries] @ words.T
    cosines[np.arange(queries.size), queries] = -2
    nearest = np.argsort(-cosines, axis=1, kind="stable")[:, :AMONG]
    others = np.hstack([
        np.stack([rng.choice(row, min(NEAR, row.size), replace=False) for row in nearest]),
        rng.integers(0, len(words), (queries.size, DRAWN)),
    ])  # fmt: skip
    true = np.take_along_axis(cosines, others, axis=1)
    kept = true > -2
    sets = [part for path in asked.gold for part in parts_of(read_gold(path))]
    phrases = sorted({phrase for gold in sets for pair in gold.pairs for phrase in pair})
    made = [(phrase, table.composed_vector(phrase)) for phrase in phrases]
    vectors = {phrase: vector for phrase, vector in made if vector is not None}
    rows = {phrase: row for row, phrase in enumerate(vectors)}
    wide = unit(np.array(list(vectors.values()), np.float32))

    def people(pair_values: Callable[[list[tuple[str, str]]], list[float | None]]) -> list[str]:
        cells = []
        for gold in sets:
            both = [n for n, pair in enumerate(gold.pairs) if all(one in rows for one in pair)]
            values: list[float | None] = [None] * len(gold.pairs)
            for n, value in zip(both, pair_values([gold.pairs[n] for n in both]), strict=True):
                values[n] = value
            cells.append(agreement(values, gold, both))
        return cells

    heads = ["bytes", "both coded", "one coded", "of ten", "learning, s", "a search, ms"]
    print("| " + " | ".join(["", *heads, *(gold.name for gold in sets)]) + " |")
    print("|---" * (1 + len(heads) + len(sets)) + "|")

    def measured(code: Code, learning: float) -> None:
        coded = code.decoded(words)
        length = np.maximum(np.linalg.norm(coded, axis=1), 1e-12)
        one = np.einsum("qd,qnd->qn", words[queries][:, : coded.shape[1]], coded[others])
        one /= length[others]
        one *= (true[kept] @ one[kept]) / (one[kept] @ one[kept])
        ours = coded / length[:, None]
        both = ours[queries] @ ours.T
        both[np.arange(queries.size), queries] = -2
        found = np.argsort(-both, axis=1, kind="stable")[:, :TEN]
        share = np.mean([np.isin(a, b[:TEN]).mean() for a, b in zip(found, nearest, strict=True)])
        estimates = code.spread(np.take_along_axis(both, others, axis=1))
        took = "-"
        if code.searcher is not None:
            search = code.searcher(words, len(table))
            begun = time.process_time()
            search()
            took = f"{1000 * (time.process_time() - begun) / QUERIES:.1f}"
        of_people = unit(code.decoded(wide))
        cells = people(lambda pairs: [
            float(of_people[rows[a]] @ of_people[rows[b]]) for a, b in pairs
        ])  # fmt: skip
        print("| " + " | ".join([
            code.name, str(N_BYTES), rmse(estimates[kept], true[kept]), rmse(one[kept], true[kept]),
            f"{share:.2f}", f"{learning:.0f}", took, *cells,
        ]) + " |", flush=True)  # fmt: skip

    with one_thread_each():
        measured(signs("signs, rotated by ITQ (ours)", None, table.n_bits), 0.0)
        measured(signs("signs, rotated at random", turn, table.n_bits), 0.0)
        for name in ("product quantiser", "OPQ and product quantiser", "residual quantiser"):
            begun = time.process_time()
            code = quantised(name, words)
            measured(code, time.process_time() - begun)
    kept_bytes = (table.bits.nbytes + table.parts.vectors.nbytes) / len(table)
    restored = EstimatedCosine(table, estimate="restored")
    cells = people(lambda pairs: list(restored.similarities(pairs)))
    print(f"| restored (ours) | {kept_bytes:.0f} |  |  |  |  |  | " + " | ".join(cells) + " |")
    cells = people(lambda pairs: [float(wide[rows[a]] @ wide[rows[b]]) for a, b in pairs])
    print(f"| real-valued | {2 * words.shape[1]} |  |  |  |  |  | " + " | ".join(cells) + " |")


def rmse(found: np.ndarray, true: np.ndarray) -> str:
    return f"{np.sqrt(np.mean((found - true) ** 2)):.3f}"


if __name__ == "__main__":
    main()
