"""Options and commands that there were, and what takes their place."""

_NORMALISER = {
    "--fold-numbers": "use --set normaliser.fold_numbers=true",
    "--drop-punctuation": "use --set normaliser.drop_punctuation=true",
    "--drop-digits": "use --set normaliser.drop_digits=true",
}
_WEIGHTING = {
    "--weights": "use --set weighting.scheme=NAME",
    "--alpha": "use --set weighting.alpha=0.75",
    "--shift": "use --set weighting.shift=1",
    "--subsample": "use --set weighting.subsample=0.0001",
    "--discount": "use --set weighting.discount=1.5",
    "--least": "use --set weighting.min_weight=0.3",
}
_MODEL = {
    "--window": "use --set model.window=N",
    "--sides": "use --set model.sides=true",
    "--positions": "use --set model.sides=false",
}
_BITS = {"--bits": "use --set n_bits=256", "--seed": "use --set seed=1"}
_OF_PLAIN_COUNTS = {  # which, without a preset, meant the thesis's recipe
    "--weights": "use --preset thesis --set weighting.scheme=NAME",
    "--window": "use --preset thesis --set model.window=N",
}
_COMPOSE = {
    "--compose": "use --set composition.prior_count=2000",
    "--no-compose": "use --set composition=none",
}
_SYNTAX = {
    "--features": "use --from annotated --set model.families=NAME,NAME",
    "--kinds": "use --from annotated --set model.kinds=NAME,NAME",
}
_UNPACK_LIMIT = {"--unpack-limit": "give it before the command: distsim --unpack-limit SIZE ..."}
_CLUSTER = (
    _WEIGHTING
    | _MODEL
    | _OF_PLAIN_COUNTS
    | _BITS
    | _COMPOSE
    | _NORMALISER
    | {
        "--projection": "use --set projection=gaussian, or spectral: a cluster learns its own",
        "--max-phrases": "use --set max_phrases=N",
        "--from-counts": "use --from counts",
        "--dedup": "use --set dedup=exact",
        "--keep-case": "use --set normaliser.lower=false",
        "--part-size": "use --set part_bytes=16000000",
        "--ranges": "use --set n_ranges=N",
    }
)

_SEARCH = {
    "--span": "use --set span=10",
    "--pops": "use --set pops=50",
    "--rules": "use --set rules=20",
    "--delete": "use --set deletes=true",
    "--no-delete": "use --set deletes=false",
}

# By command, `""` for the program itself: the option or the subcommand -> what to do instead.
REMOVED: dict[str, dict[str, str]] = {
    "index": {
        "info": "use distsim info INDEX",
        "verify": "use distsim verify INDEX",
    },
    "index build": _NORMALISER | _UNPACK_LIMIT | {"--shard-tokens": "use --set shard_tokens=N"},
    "index add": _UNPACK_LIMIT,
    "compare": {
        "--window": "use --set model.window=2",
        "--weights": "use --set weighting.scheme=ppmi",
    },
    "contexts": _MODEL
    | _SYNTAX
    | {"--model": "use --from annotated", "--weights": "use --set weighting.scheme=log"},
    "sign": _WEIGHTING
    | _MODEL
    | _OF_PLAIN_COUNTS
    | _BITS
    | _COMPOSE
    | _SYNTAX
    | {
        "--from-counts": "use --from counts",
        "--from-vectors": "use --from vectors",
        "--model": "use --from annotated",
        "--max-phrases": "use --set max_phrases=N",
        "--parts": "words' vectors are kept unless --set keep_parts=false",
        "--no-parts": "use --set keep_parts=false",
        "--keep-sums": "use --preset thesis --set keep_sums=true",
        "--keep-features": "use --from annotated --set keep_features=true",
        "--format": "use --from counts --set text_format=text",
        "--keep-case": "use --from counts --set normaliser.lower=false",
        "--trees": "use --from annotated --set trees=FILE",
        "--with": "first run distsim annotate --with spacy; then use --from annotated",
        "--models": "first run distsim annotate --models DIR; then use --from annotated",
        "--processors": "first run distsim annotate; then use --from annotated",
        "--words": "give the words and rows of a .npy file to GivenVectors in Python",
        "--phrases": "use --from vectors --set phrases=FILE",
        "--index": "use --from vectors --set index=INDEX",
        "--counts": "use --from vectors --set counts=FILE",
        "--most-words": "use --from vectors --set most_words=N",
        "--centre": "use --from vectors --set model.centre=true",
        "--no-centre": "use --from vectors --set model.centre=false",
    }
    | {option: f"use --from counts {sentence[4:]}" for option, sentence in _NORMALISER.items()},
    "cluster sign": _CLUSTER
    | {
        "--memory": "use --set memory=256000000",
        "--max-length": "use --set max_length=N",
        "--keep-work": "use --set keep_work=true",
    },
    "cluster score": {
        "--align": "use --set align=all",
        "--aligner": "use --set aligner=evidence",
        "--names": "use --set names=ppdb",
        "--compose": "use --set compose=true",
        "--min-strength": "use --set min_strength=N",
        "--format": "use --set grammar_format=NAME",
        "--on-error": "use --set on_error=keep",
    },
    "cluster plan": _CLUSTER
    | {"--memory": "use --set memory=256000000", "--max-length": "use --set max_length=N"},
    "neighbours": {
        "--rerank": "use --by exact or --by vectors, which order the 300 nearest",
        "--kind": "use --by substitutes or --by related",
        "--distinct": "it is the default; --all shows every row",
        "--projection": "a table has its projection in itself: leave it out",
        "--estimate": "use --by bits, --by asymmetric or --by restored",
        "--in": "use distsim substitute INDEX 'a [phrase] in its sentence'",
    },
    "evaluate": {
        "--projection": "a table has its projection in itself: leave it out",
        "--seed": "use --set seed=N",
        "--plot": "use distsim similarity TABLE --pairs FILE and draw the numbers that it prints",
    }
    | {
        option: f"use distsim evaluate-sentences SOURCE SYSTEM {words}".strip()
        for option, words in {
            "--sentences": "",
            "--references": "--references FILE",
            "--phi": "--set phi=0.75",
            "--ter": "--ter",
            "--baseline": "--baseline NAME",
            "--form": "--form FILE",
            "--items": "--form FILE --set items=50",
            "--judged": "--judged KEY",
            "--as-is": "--as-is",
        }.items()
    },
    "learn": _WEIGHTING
    | _MODEL
    | _BITS
    | {
        "--rows": "use --set learning.rows=25000",
        "--features": "use --set learning.features=80000",
        "--rank": "use --set learning.rank=N",
        "--exponent": "the exponent is always 0.5: others brought nothing",
        "--rotation": "bits are always turned by ITQ: random turns brought nothing",
    },
    "align": _NORMALISER
    | {
        "--keep-case": "use --set normaliser.lower=false",
        "--dedup": "use --set dedup=exact",
        "--unescape": "use --set unescape=true",
        "--symmetrise": "use --set symmetrisation=intersection",
        "--samplers": "use --set samplers=3",
        "--iterations": "use --set iterations=1",
        "--seed": "use --set seed=1",
    },
    "extract": {
        "--longest": "use --set longest=10",
        "--most-symbols": "use --set most_symbols=5",
        "--most-gaps": "use --set most_gaps=2",
        "--loose": "use --set loose=true",
        "--tight": "use --set loose=false",
        "--min-linked": "use --set min_linked=1",
        "--may-touch": "use --set may_touch=true",
        "--apart": "use --set may_touch=false",
        "--labels": "use --set labels=thrax",
        "--every-label": "use --set labels=every",
        "--unlabelled": "use --set unlabelled=NAME",
        "--chains": "use --set chains=NAME",
        "--whole": "use --set whole=true",
        "--no-whole": "use --set whole=false",
        "--min-count": "use --set min_count=2",
        "--names": "use --set names=ppdb",
    },
    "pivot": {
        "--e-given-f": "use --set features.p(e|f)=FEATURE",
        "--f-given-e": "use --set features.p(f|e)=FEATURE",
        "--rarity": "use --set features.RarityPenalty=FEATURE",
        "--feature": "use --set features.NAME=FEATURE",
        "--scale": "use --set scale=negative-log",
        "--identities": "use --set identities=mark",
        "--min-rule": "use --set min_rule=0.001",
        "--min-link": "use --set min_link=0.001",
        "--min-sum": "use --set min_sum=0.001",
        "--min-probability": "use --set min_sum=0.001",
        "--max-translations": "use --set max_translations=50",
        "--rarity-rule": "use --set rarity_rule=added",
        "--label-free": "use --set label_free=same-label",
    },
    "score": {
        "--align": "use --set align=all",
        "--aligner": "use --set aligner=evidence",
        "--align-sample": "use --set sample=20000",
        "--names": "use --set names=ppdb",
        "--features": "use --set style=named",
        "--coverage": "use --set coverage=true",
        "--no-coverage": "use --set coverage=false",
        "--missing": "use --set missing=0",
        "--identical": "use --set identical=skip",
        "--min-strength": "use --set min_strength=20",
        "--compose": "use --set compose=true",
        "--estimate": "use --set estimate=bits",
        "--whole": "use --set whole=true",
    },
    "rank": {
        "--folds": "use --set folds=5",
        "--samples": "use --set samples=1000",
        "--seed": "use --set seed=1",
    },
    "rerank": {
        "--ascending": "use --set ascending=true",
        "--top": "use --set top=10",
        "--worst": "use --set worst=1.5",
        "--missing": "use --set missing=0",
        "--write": "use --set write=NAME",
        "--memory": "leave it out: text that is sorted is on the disk",
    },
    "make-grammar": {
        "--preset": "use --set preset=hiero",
        "--loose": "use --set loose=true",
        "--symmetrise": "use --set aligner.symmetrisation=intersection",
        "--dedup": "use --set text.dedup=exact",
        "--unescape": "use --set text.unescape=true",
        "--max-translations": "use --set max_translations=50",
        "--min-sum": "use --set min_sum=0.001",
        "--compose": "use --set compose=true",
        "--no-compose": "use --set compose=false",
        "--sizes": "use --set sizes=S,L",
        "--seed": "use --set seed=1",
    },
    "pack": {
        "--ascending": "use --set descending=false",
        "--missing": "use --set missing=0",
        "--sizes": "use --set sizes=S,L",
        "--index": "use --set index=true",
        "--no-index": "use --set index=false",
        "--quantise": "use --set quantise=true",
    },
    "rewrite": _SEARCH
    | {
        "--arpa": "use --index FILE",
        "--keep": "use --set keep=WORD",
        "--avoid": "use --set avoid=WORD",
        "--chunks": "use --set chunks=true",
    },
    "tune": _SEARCH
    | {
        "--arpa": "use --index FILE",
        "--objective": "use --set objective=precis",
        "--learner": "use --set learner=pro",
        "--phi": "use --set phi=0.75",
        "--without": "use --set without=NAME",
        "--iterations": "use --set iterations=8",
        "-n": "use --set n=100",
        "--penalty": "use --set penalty=0.1",
        "--seed": "use --set seed=1",
    },
    "paraphrase": {
        "--text": "use --input TEXT with --known TABLE",
        "--phrase-length": "use --set phrase_length=3",
        "--drop-opposites": "use --set drop_opposites=true",
        "--min-score": "use --set min_score=0.05",
        "--window": "use --set window=6",
        "--places": "use --set places=2",
        "--sample": "use --set sample=10000",
        "--mcc": "use --set mcc=512",
        "--max-length": "use --set max_length=6",
        "--length-difference": "use --set length_difference=2",
        "--weights": "use --set weighting.scheme=llr",
        "--entailment": "use --set entailment=both",
        "--drop-pieces": "use --set substrings=true",
        "--keep-pieces": "use --set substrings=false",
        "--drop-collapsed": "use --set collapsed=true",
        "--keep-collapsed": "use --set collapsed=false",
        "--drop-overlapping": "use --set overlapping=true",
        "--keep-overlapping": "use --set overlapping=false",
        "--one-sided": "use --set one_sided=100",
        "--neighbours": "use --set neighbours=100",
    },
    "substitute": {
        "--weights": "use --set fit=0",
        "--neighbours": "use --set neighbours=200",
        "--inflections": "use --set inflections=none",
    },
    "augment": {
        "--aggregate": "use --set method=update",
        "--features": "use --set features=two",
        "--translations": "use --set translations=20",
        "--probability": "use --set probability=2",
        "--limit-rules": "use --set limit_rules=10000000",
    },
}
