"""Compiled loops that count syntactic features of phrases in annotated sentences.

A feature is packed into one integer, `template | a | b`: a template is a name with two places
left open, a and b are the numbers of the texts that go there. So occurrences are counted
without spelling any name; a name's hash is made once for each feature of a phrase, by
continuing the hash of what the template begins with.
"""

from typing import NamedTuple

import numpy as np

from distsim.kernels.arrays import grown
from distsim.kernels.compiled import compiled
from distsim.kernels.hashing import MULTIPLIER, SPACE, START, extend, finish, step

LEX, LEM, POS, NER = 0, 1, 2, 3
LEFT, RIGHT = 0, 1
BASIC, ENHANCED, COLLAPSED, PROPAGATED = 0, 1, 2, 3
DEPENDS, GOVERNS = 0, 1
PREFIX, RIGHT_MISSING, SUFFIX, LEFT_MISSING = 0, 1, 2, 3

OFF = -1
TEMPLATE_SHIFT = np.uint64(56)
TEXT_SHIFT = np.uint64(28)
TEXT_MASK = np.uint64((1 << 28) - 1)
# An occurrence is packed as position << 3 | length - 1.
LENGTH_SHIFT = np.uint64(3)
LENGTH_MASK = np.uint64(7)
_ONE = np.uint64(1)
_FIRST_SLOTS = 1 << 10


class EncodedSentences(NamedTuple):
    """A corpus as arrays; token positions run through all sentences.

    Attributes:
        texts: int32[n, 4], the text of each token by kind.
        before, after: uint8[n], tokens of its sentence on either side, 255 where there are more.
        arc_starts: int64[n + 1], token i has arcs[arc_starts[i]:arc_starts[i + 1]].
        arcs: int32[, 3]: other end - i, 0 for the root; text of the type; 2 * graph + direction.
        begin_starts: int64[n + 1], the nodes that begin with token i are
            begin[begin_starts[i]:begin_starts[i + 1]].
        begin: int32[, 2]: tokens, text of the label; longest first.
        end_starts, end: the same for the nodes that end with token i.
    """

    texts: np.ndarray
    before: np.ndarray
    after: np.ndarray
    arc_starts: np.ndarray
    arcs: np.ndarray
    begin_starts: np.ndarray
    begin: np.ndarray
    end_starts: np.ndarray
    end: np.ndarray


class Templates(NamedTuple):
    """The template of each kind of feature, int16; OFF where the kind is switched off.

    ngrams: [side, kind, tokens - 1, distance - 1]. arcs: [graph, direction, side, kind].
    spans: [1]. slashes: [4]. heads: [kind]. root: int32[1], the text that stands for the root.
    states: uint64, the hash state after a template's beginning; middle and suffix are
    text[offsets[t, 0]:offsets[t, 1]] and text[offsets[t, 1]:offsets[t, 2]].
    """

    ngrams: np.ndarray
    arcs: np.ndarray
    spans: np.ndarray
    slashes: np.ndarray
    heads: np.ndarray
    root: np.ndarray
    states: np.ndarray
    text: np.ndarray
    offsets: np.ndarray


@compiled
def index_arcs(n_tokens, dependents, governors, types, graphs):
    """Return (arc_starts, arcs) of EncodedSentences; governors below 0 are the root.

    Arguments:
        n_tokens: number of tokens of all sentences.
        dependents, governors: int64, token positions.
        types: int64, number of the text of each arc's type.
        graphs: int64, 0 basic, 1 enhanced.
    """
    starts = np.zeros(n_tokens + 1, np.int64)
    for a in range(dependents.size):
        starts[dependents[a] + 1] += 1
        if governors[a] >= 0:
            starts[governors[a] + 1] += 1
    for i in range(n_tokens):
        starts[i + 1] += starts[i]
    at = starts[:n_tokens].copy()
    arcs = np.empty((starts[n_tokens], 3), np.int32)
    for a in range(dependents.size):
        dependent = dependents[a]
        governor = governors[a]
        place = at[dependent]
        at[dependent] += 1
        arcs[place, 0] = governor - dependent if governor >= 0 else 0
        arcs[place, 1] = types[a]
        arcs[place, 2] = 2 * graphs[a] + DEPENDS
        if governor >= 0:
            place = at[governor]
            at[governor] += 1
            arcs[place, 0] = dependent - governor
            arcs[place, 1] = types[a]
            arcs[place, 2] = 2 * graphs[a] + GOVERNS
    return starts, arcs


@compiled
def index_nodes(n_tokens, tokens, lengths, labels):
    """Return (starts, nodes) of EncodedSentences: the nodes of each token in the order given.

    Arguments:
        n_tokens: number of tokens of all sentences.
        tokens, lengths: int64, where each node begins, and its number of tokens.
        labels: int64, number of the text of each label.
    """
    starts = np.zeros(n_tokens + 1, np.int64)
    for a in range(tokens.size):
        starts[tokens[a] + 1] += 1
    for i in range(n_tokens):
        starts[i + 1] += starts[i]
    at = starts[:n_tokens].copy()
    nodes = np.empty((tokens.size, 2), np.int32)
    for a in range(tokens.size):
        place = at[tokens[a]]
        at[tokens[a]] += 1
        nodes[place, 0] = lengths[a]
        nodes[place, 1] = labels[a]
    return starts, nodes


@compiled
def hash_phrases(words, after, text, offsets, first_position, longest):
    """Return (hash, occurrence) of all phrases of 1..longest tokens, uint64 each.

    Arguments:
        words: int32, number of the text of each token.
        after: uint8, number of tokens of the sentence after each token.
        text, offsets: uint8 and int64, text[offsets[w]:offsets[w + 1]] is text w.
        first_position: position of the first token in the corpus.
        longest: maximum length of a phrase, in tokens.
    """
    capacity = words.size * longest
    hashes = np.empty(capacity, np.uint64)
    occurrences = np.empty(capacity, np.uint64)
    n = 0
    for i in range(words.size):
        state = START
        for length in range(min(longest, after[i] + 1)):
            if length > 0:
                state = step(state, SPACE)
            word = words[i + length]
            state = extend(state, text, offsets[word], offsets[word + 1])
            hashes[n] = finish(state)
            occurrences[n] = (np.uint64(first_position + i) << LENGTH_SHIFT) | np.uint64(length)
            n += 1
    return hashes[:n].copy(), occurrences[:n].copy()


@compiled
def pack(template, a, b):
    """Return a feature as one integer, never 0 because text 0 is empty and a is not.

    Arguments:
        template: number of the feature's template.
        a, b: numbers of the texts in it.
    """
    return (np.uint64(template) << TEMPLATE_SHIFT) | (np.uint64(a) << TEXT_SHIFT) | np.uint64(b)


@compiled
def ngram_features(i, j, sentences, templates, out, n):
    """Return the number of features after appending the uni- and bigrams beside [i, j).

    Arguments:
        i, j: half-open span of the phrase.
        sentences, templates: EncodedSentences and Templates.
        out: uint64, packed features; appended to.
        n: number of features in out.
    """
    texts = sentences.texts
    ngrams = templates.ngrams
    window = ngrams.shape[3]
    left = min(window, np.int64(sentences.before[i]))
    right = min(window, np.int64(sentences.after[j - 1]))
    for kind in range(4):
        for distance in range(1, left + 1):
            p = i - distance
            template = ngrams[LEFT, kind, 0, distance - 1]
            if template != OFF:
                out[n] = pack(template, texts[p, kind], 0)
                n += 1
            template = ngrams[LEFT, kind, 1, distance - 1]
            if template != OFF and distance > 1:
                out[n] = pack(template, texts[p, kind], texts[p + 1, kind])
                n += 1
        for distance in range(1, right + 1):
            p = j + distance - 1
            template = ngrams[RIGHT, kind, 0, distance - 1]
            if template != OFF:
                out[n] = pack(template, texts[p, kind], 0)
                n += 1
            template = ngrams[RIGHT, kind, 1, distance - 1]
            if template != OFF and distance < right:
                out[n] = pack(template, texts[p, kind], texts[p + 1, kind])
                n += 1
    return n


@compiled
def arc_features(i, j, sentences, templates, out, n):
    """Return the number of features after appending arcs across the edges of [i, j).

    Arguments:
        i, j: half-open span of the phrase.
        sentences, templates: EncodedSentences and Templates.
        out: uint64, packed features; written from place n on.
        n: number of features in out.
    """
    texts = sentences.texts
    attached = 0  # tokens with a basic head
    leaving = 0  # basic arcs that end outside, on the governor's or the dependent's side
    head = i
    for p in range(i, j):
        for a in range(sentences.arc_starts[p], sentences.arc_starts[p + 1]):
            offset = sentences.arcs[a, 0]
            graph = sentences.arcs[a, 2] >> 1
            direction = sentences.arcs[a, 2] & 1
            is_root = offset == 0
            other = p + offset
            if graph == BASIC and direction == DEPENDS:
                attached += 1
            if i <= other < j and not is_root:
                continue
            if graph == BASIC:
                leaving += 1
                if direction == DEPENDS:
                    head = p
                else:
                    leaving += 1  # no complete subtree
            side = LEFT if is_root or other < i else RIGHT
            for kind in range(4):
                template = templates.arcs[graph, direction, side, kind]
                if template != OFF:
                    text = templates.root[0] if is_root else texts[other, kind]
                    out[n] = pack(template, sentences.arcs[a, 1], text)
                    n += 1
    if leaving == 1 and attached == j - i:
        for kind in range(4):
            if templates.heads[kind] != OFF:
                out[n] = pack(templates.heads[kind], texts[head, kind], 0)
                n += 1
    return n


@compiled
def tree_features(i, j, sentences, templates, out, n):
    """Return the number of features after appending constituents over [i, j) and slashed labels.

    Arguments:
        i, j: half-open span of the phrase.
        sentences, templates: EncodedSentences and Templates.
        out: uint64, packed features; written from place n on.
        n: number of features in out.
    """
    begin = sentences.begin
    end = sentences.end
    length = j - i
    low = sentences.begin_starts[i]
    high = sentences.begin_starts[i + 1]
    longer = low  # nodes from here to `high` are no longer than the phrase
    while longer < high and begin[longer, 0] > length:
        longer += 1
    if templates.spans[0] != OFF:
        for x in range(longer, high):
            if begin[x, 0] == length:
                out[n] = pack(templates.spans[0], begin[x, 1], 0)
                n += 1
    if templates.slashes[0] == OFF:
        return n
    first = n
    if sentences.after[j - 1] > 0:
        for x in range(low, longer):
            for y in range(sentences.begin_starts[j], sentences.begin_starts[j + 1]):
                if begin[y, 0] == begin[x, 0] - length:
                    n = _slash(begin[x, 1], begin[y, 1], PREFIX, templates, out, first, n)
    first = n
    if sentences.before[i] > 0:
        for x in range(sentences.end_starts[j - 1], sentences.end_starts[j]):
            if end[x, 0] <= length:
                break
            for y in range(sentences.end_starts[i - 1], sentences.end_starts[i]):
                if end[y, 0] == end[x, 0] - length:
                    n = _slash(end[x, 1], end[y, 1], SUFFIX, templates, out, first, n)
    return n


@compiled
def _slash(whole, missing, side, templates, out, first, n):
    """Return the number of features after appending a label's two, unless out[first:n] has them.

    Arguments:
        whole, missing: texts of the label of the whole and of what it lacks.
        side: PREFIX or SUFFIX.
        templates: Templates.
        out: uint64, packed features; written from place n on.
        first: where the features of this kind begin in out.
        n: number of features in out.
    """
    a = pack(templates.slashes[side], whole, 0)
    b = pack(templates.slashes[side + 1], missing, 0)
    for k in range(first, n, 2):
        if out[k] == a and out[k + 1] == b:
            return n
    out[n] = a
    out[n + 1] = b
    return n + 2


@compiled
def most_features(i, j, sentences, templates):
    """Return an upper bound of the features of the phrase [i, j).

    Arguments:
        i, j: half-open span of the phrase.
        sentences, templates: EncodedSentences and Templates.
    """
    nodes = sentences.begin_starts[i + 1] - sentences.begin_starts[i]
    bound = 4 * 4 * templates.ngrams.shape[3] + nodes + 4
    bound += 4 * (sentences.arc_starts[j] - sentences.arc_starts[i])
    if sentences.after[j - 1] > 0:
        bound += 2 * nodes * (sentences.begin_starts[j + 1] - sentences.begin_starts[j])
    if sentences.before[i] > 0:
        missing = sentences.end_starts[i] - sentences.end_starts[i - 1]
        bound += 2 * missing * (sentences.end_starts[j] - sentences.end_starts[j - 1])
    return bound


@compiled
def occurrence_features(i, j, sentences, templates, out):
    """Return the number of features of the phrase [i, j), written to `out` in order of families.

    Arguments:
        i, j: half-open span of the phrase.
        sentences, templates: EncodedSentences and Templates.
        out: uint64, with room for most_features; filled.
    """
    n = ngram_features(i, j, sentences, templates, out, 0)
    n = tree_features(i, j, sentences, templates, out, n)
    return arc_features(i, j, sentences, templates, out, n)


@compiled
def _place(keys, key):
    """Return the slot of a key in an open-addressing table, or the free slot for it.

    Arguments:
        keys: uint64, as many as a power of two; 0 where free.
        key: uint64, not 0.
    """
    mask = np.uint64(keys.size - 1)
    mixed = key * MULTIPLIER
    slot = (mixed ^ (mixed >> np.uint64(32))) & mask
    while keys[slot] != 0 and keys[slot] != key:
        slot = (slot + _ONE) & mask
    return np.int64(slot)


@compiled
def _grown(keys, counts, slots, n, wanted):
    """Return the table (keys, counts, slots) with room for more keys.

    Arguments:
        keys, counts: uint64 and uint32, an open-addressing table.
        slots: int64, of which the first n are in use.
        wanted: number of keys.
    """
    size = keys.size
    while size < 2 * wanted:
        size *= 2
    new_keys = np.zeros(size, np.uint64)
    new_counts = np.zeros(size, np.uint32)
    new_slots = np.empty(size // 2, np.int64)
    for s in range(n):
        slot = _place(new_keys, keys[slots[s]])
        new_keys[slot] = keys[slots[s]]
        new_counts[slot] = counts[slots[s]]
        new_slots[s] = slot
    return new_keys, new_counts, new_slots


@compiled
def count_packed(occurrences, sentences, templates):
    """Return (distinct packed features uint64, counts uint32) of one phrase's occurrences.

    Arguments:
        occurrences: uint64, position << 3 | length - 1 of each.
        sentences, templates: EncodedSentences and Templates.
    """
    keys = np.zeros(_FIRST_SLOTS, np.uint64)
    counts = np.zeros(_FIRST_SLOTS, np.uint32)
    slots = np.empty(_FIRST_SLOTS // 2, np.int64)
    out = np.empty(256, np.uint64)
    keys, counts, slots, out, n = _count_phrase(
        occurrences, 0, occurrences.size, sentences, templates, keys, counts, slots, out
    )
    return keys[slots[:n]], counts[slots[:n]]


@compiled
def _count_phrase(
    occurrences, low, high, sentences, templates, keys, counts, slots, out
):  # fmt: skip
    """Return the counted features of occurrences[low:high] as a table, and their number.

    The table is (keys, counts, slots, out), as given or larger.

    Arguments:
        occurrences: uint64, positions and lengths.
        low, high: the range.
        sentences, templates: EncodedSentences and Templates.
        keys, counts: uint64 and uint32, an open-addressing table of zeros.
        slots: int64, the slots in use, in order of first appearance.
        out: uint64, room for the features of one occurrence.
    """
    n = 0
    for place in range(low, high):
        i = np.int64(occurrences[place] >> LENGTH_SHIFT)
        j = i + np.int64(occurrences[place] & LENGTH_MASK) + 1
        bound = most_features(i, j, sentences, templates)
        if bound > out.size:
            out = np.empty(2 * bound, np.uint64)
        if n + bound > slots.size:
            keys, counts, slots = _grown(keys, counts, slots, n, n + bound)
        for f in range(occurrence_features(i, j, sentences, templates, out)):
            slot = _place(keys, out[f])
            if keys[slot] == 0:
                keys[slot] = out[f]
                slots[n] = slot
                n += 1
            counts[slot] += np.uint32(1)
    return keys, counts, slots, out, n


@compiled
def name_hash(key, templates, text, offsets):
    """Return the hash of a packed feature's name.

    Arguments:
        key: a packed feature.
        templates: Templates.
        text, offsets: uint8 and int64, the texts end to end.
    """
    template = np.int64(key >> TEMPLATE_SHIFT)
    a = np.int64((key >> TEXT_SHIFT) & TEXT_MASK)
    b = np.int64(key & TEXT_MASK)
    spans = templates.offsets
    state = extend(templates.states[template], text, offsets[a], offsets[a + 1])
    state = extend(state, templates.text, spans[template, 0], spans[template, 1])
    state = extend(state, text, offsets[b], offsets[b + 1])
    return finish(extend(state, templates.text, spans[template, 1], spans[template, 2]))


@compiled
def count_features(occurrences, starts, sentences, templates, text, offsets):
    """Return (row_starts, hashes, families, counts): the features of every phrase, as rows.

    Phrase p has occurrences[starts[p]:starts[p + 1]]. families: uint8, the template of each
    feature. Features whose names are equal are one, of the lowest of their templates.

    Arguments:
        occurrences: uint64, position << 3 | length - 1 of each.
        starts: int64[n + 1], the first occurrence of each phrase.
        sentences, templates: EncodedSentences and Templates.
        text, offsets: uint8 and int64, the texts end to end.
    """
    row_starts = np.zeros(starts.size, np.int64)
    capacity = 1 << 12
    hashes = np.empty(capacity, np.uint64)
    families = np.empty(capacity, np.uint8)
    sums = np.empty(capacity, np.uint32)
    keys = np.zeros(_FIRST_SLOTS, np.uint64)
    counts = np.zeros(_FIRST_SLOTS, np.uint32)
    slots = np.empty(_FIRST_SLOTS // 2, np.int64)
    seen = np.zeros(_FIRST_SLOTS, np.uint64)  # a second table, by hash
    row_of = np.empty(_FIRST_SLOTS, np.int64)
    out = np.empty(256, np.uint64)
    total = 0
    for p in range(starts.size - 1):
        keys, counts, slots, out, n = _count_phrase(
            occurrences, starts[p], starts[p + 1], sentences, templates, keys, counts, slots, out
        )
        if seen.size < keys.size:
            seen = np.zeros(keys.size, np.uint64)
            row_of = np.empty(keys.size, np.int64)
        while total + n > capacity:
            capacity *= 2
        if capacity > hashes.size:
            hashes = grown(hashes, total, capacity)
            families = grown(families, total, capacity)
            sums = grown(sums, total, capacity)
        begin = total
        for s in range(n):
            key = keys[slots[s]]
            count = counts[slots[s]]
            keys[slots[s]] = 0
            counts[slots[s]] = 0
            template = np.uint8(key >> TEMPLATE_SHIFT)
            hashed = name_hash(key, templates, text, offsets)
            if hashed == 0:
                hashed = _ONE  # 0 marks an empty slot
            slot = _place(seen, hashed)
            if seen[slot] == 0:
                seen[slot] = hashed
                row_of[slot] = total
                hashes[total] = hashed
                families[total] = template
                sums[total] = count
                total += 1
            else:
                row = row_of[slot]
                families[row] = min(families[row], template)
                sums[row] += count
        for f in range(begin, total):
            slots[f - begin] = _place(seen, hashes[f])
        for f in range(total - begin):
            seen[slots[f]] = 0
        row_starts[p + 1] = total
    return row_starts, hashes[:total].copy(), families[:total].copy(), sums[:total].copy()
