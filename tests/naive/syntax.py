"""The syntactic features of a phrase in plain strings, written from the table of the design."""

from collections import Counter

WINDOW = 3
KINDS = ("lex", "lem", "pos", "ner")
ALL = ("ngram", "constituent", "ccg", "dep", "enhanced", "collapsed", "propagated", "head")


def occurrence_features(sentence, i, j, families=ALL, kinds=KINDS, window=WINDOW):
    """Return a Counter of the features of the occurrence [i, j) of an AnnotatedSentence."""
    column = dict(
        zip(KINDS, (sentence.words, sentence.lemmas, sentence.pos, sentence.ner), strict=True)
    )
    n = len(sentence.words)
    found = Counter()
    for kind in kinds:
        texts = column[kind]
        if "ngram" in families:
            for size in (1, 2):
                for p in range(n - size + 1):
                    gram = "_".join(texts[p : p + size])
                    if p >= i - window and p + size <= i:
                        found[f"l_{kind}_{gram}_{i - p}"] += 1
                    if p >= j and p + size <= j + window:
                        found[f"r_{kind}_{gram}_{p - j + 1}"] += 1
        basic = [
            (d, g, t)
            for d, (g, t) in enumerate(zip(sentence.heads, sentence.types, strict=True))
            if g != -2
        ]
        graphs = {
            "dep": ("", basic),
            "enhanced": ("e", sentence.enhanced),
            "collapsed": ("c", sentence.collapsed),
            "propagated": ("p", sentence.propagated),
        }
        for family, (letter, arcs) in graphs.items():
            if family not in families:
                continue
            for dependent, governor, label in arcs:
                inside_d = i <= dependent < j
                inside_g = i <= governor < j
                if inside_d and not inside_g:
                    side = "l" if governor < i else "r"
                    end = "ROOT" if governor == -1 else texts[governor]
                    found[f"{side}_{letter}dep_{label}_{kind}_{end}"] += 1
                if inside_g and not inside_d:
                    side = "l" if dependent < i else "r"
                    found[f"{side}_{letter}gov_{label}_{kind}_{texts[dependent]}"] += 1
        if "head" in families:
            for token in range(i, j):
                if subtree(sentence.heads, token) == set(range(i, j)):
                    found[f"c_head_{kind}_{texts[token]}"] += 1
    if "constituent" in families:
        for start, stop, label in sentence.nodes:
            if (start, stop) == (i, j):
                found[f"c_syn_span_{label}"] += 1
    if "ccg" in families:
        for whole, missing in {
            (x, y)
            for a, b, x in sentence.nodes
            for c, d, y in sentence.nodes
            if a == i and c == j and b == d
        }:
            found[f"r_syn_pref_{whole}"] += 1
            found[f"r_syn_miss_{missing}"] += 1
        for whole, missing in {
            (x, y)
            for a, b, x in sentence.nodes
            for c, d, y in sentence.nodes
            if b == j and d == i and a == c
        }:
            found[f"l_syn_suff_{whole}"] += 1
            found[f"l_syn_miss_{missing}"] += 1
    return found


def subtree(heads, token):
    """Return the set of tokens at and under a token; nothing for one without head."""
    if heads[token] == -2:
        return set()
    tokens = {token}
    while True:
        more = {d for d, g in enumerate(heads) if g in tokens} | tokens
        if more == tokens:
            return tokens
        tokens = more


def corpus_features(sentences, longest=4, min_count=1, **switches):
    """Return {phrase: (count, Counter of features)} of a corpus."""
    found = {}
    for sentence in sentences:
        n = len(sentence.words)
        for i in range(n):
            for j in range(i + 1, min(n, i + longest) + 1):
                phrase = " ".join(sentence.words[i:j])
                count, features = found.setdefault(phrase, (0, Counter()))
                features.update(occurrence_features(sentence, i, j, **switches))
                found[phrase] = (count + 1, features)
    return {p: found[p] for p in found if found[p][0] >= min_count}
