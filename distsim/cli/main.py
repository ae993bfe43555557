"""The program `distsim`: its subcommands, and how every error becomes one sentence."""

import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any

import typer

from distsim.base.errors import DistsimError
from distsim.base.parallel import Interrupted, interrupt
from distsim.cli import (
    align,
    annotate,
    augment,
    cluster,
    compare,
    contexts,
    count,
    demo,
    evaluate,
    evaluate_sentences,
    export,
    extract,
    index,
    info,
    kwic,
    learn,
    make_grammar,
    merge,
    neighbours,
    ngrams,
    pack,
    paraphrase,
    pivot,
    rank,
    rerank,
    rewrite,
    score,
    serve,
    sign,
    similarity,
    substitute,
    tune,
    verify,
)
from distsim.cli.console import in_flags, say, visible
from distsim.cli.options import UnpackLimitOption
from distsim.cli.streams import close_output, open_streams
from distsim.cli.usage import Grouped, bounded, register

app = typer.Typer(
    name="distsim",
    cls=Grouped,
    help="Distributional similarity for phrases, from plain text alone.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(
    index.app,
    name="index",
    help="Build the index of a corpus, and add text to it.",
    rich_help_panel="Corpus",
)
app.add_typer(
    cluster.app,
    name="cluster",
    help="Sign a corpus on many machines, with Spark or another scheduler.",
    rich_help_panel="Signatures",
)


def _commands(group: str, *commands: tuple[str, Callable[..., Any], str, str]) -> None:
    """Add subcommands under a heading: name, function, sentence for --help, example."""
    for name, function, sentence, example in commands:
        register(app, name, sentence, example, group)(function)


_commands(
    "Corpus",
    ("demo", demo.demo, "Run the whole flow on twelve novels.", "demo -o ."),
    (
        "count",
        count.count,
        "Count phrases in an index, gapped ones too.",
        'count novels.index "in spite of" "the king"',
    ),
    (
        "kwic",
        kwic.kwic,
        "Show a phrase's occurrences in their sentences.",
        'kwic novels.index "for the sake of" --limit 3',
    ),
    (
        "ngrams",
        ngrams.ngrams,
        "List all phrases of an index with their counts.",
        "ngrams novels.index -n 4 --min-count 250",
    ),
    (
        "contexts",
        contexts.contexts,
        "List a phrase's contexts with counts and weights.",
        "contexts novels.index mother --limit 3",
    ),
    (
        "annotate",
        annotate.annotate,
        "Annotate plain text: parts of speech, names, dependencies, trees.",
        "annotate my.txt -o my.conllu.gz --models models/en",
    ),
    (
        "compare",
        compare.compare,
        "Put two phrases side by side: contexts of both and of one.",
        "compare novels.index husband wife",
    ),
    (
        "serve",
        serve.serve,
        "Serve a page to look at, and the same as JSON.",
        "serve novels.index --port 0",
    ),
)
_commands(
    "Signatures",
    (
        "learn",
        learn.learn,
        "Learn a projection from an index, for sign --projection.",
        "learn wiki.index -o wiki.projection",
    ),
    (
        "sign",
        sign.sign,
        "Sign every frequent phrase of a source into a table.",
        "sign novels.index",
    ),
    (
        "merge",
        merge.merge,
        "Merge tables of parts of a corpus into the table of the whole.",
        "merge a.table b.table -o whole.table",
    ),
    (
        "similarity",
        similarity.similarity,
        "Tell how alike two phrases are.",
        "similarity novels.index husband wife",
    ),
    (
        "neighbours",
        neighbours.neighbours,
        "Find the phrases most alike.",
        'neighbours novels.index "could not" -k 5',
    ),
    (
        "evaluate",
        evaluate.evaluate,
        "Measure how well similarities agree with people's.",
        "evaluate novels.index judged.tsv",
    ),
    (
        "evaluate-sentences",
        evaluate_sentences.evaluate_sentences,
        "Measure rewritten sentences, beside copying and cutting.",
        "evaluate-sentences source.txt mine.txt --references person.txt",
    ),
    (
        "export",
        export.export,
        "Write vectors, phrases or neighbours for gensim, pandas, polars.",
        "export novels.index -o novels.vec",
    ),
)
_commands(
    "Paraphrases",
    (
        "paraphrase",
        paraphrase.paraphrase,
        "Find what else could be said, and why.",
        "paraphrase novels.index replied -k 3",
    ),
    (
        "substitute",
        substitute.substitute,
        "Find what fits in a phrase's place in its sentence.",
        "substitute novels.index 'the bright [boy] read'",
    ),
    (
        "rewrite",
        rewrite.rewrite,
        "Rewrite whole sentences: simpler, shorter, or only otherwise.",
        "rewrite help/packs sentences.txt --index novels.index",
    ),
    (
        "tune",
        tune.tune,
        "Tune what rewriting aims at, on sentences that people rewrote.",
        "tune packs source.txt --references people.txt --index wiki.index -o my.weights",
    ),
    (
        "augment",
        augment.augment,
        "Add rules for unknown phrases to a phrase table.",
        "augment phrase-table.gz --paraphrases out.jsonl -o augmented.gz",
    ),
)
_commands(
    "Grammars",
    (
        "align",
        align.align,
        "Link the words of two texts that say the same.",
        "align talk.en talk.de -o talk.bitext",
    ),
    (
        "extract",
        extract.extract,
        "Extract translation rules from bitexts, with all features.",
        "extract talk.bitext --preset phrases -o talk.gz",
    ),
    (
        "pivot",
        pivot.pivot,
        "Make paraphrase rules of rules that share a foreign side.",
        "pivot translations.gz -o paraphrases.gz",
    ),
    (
        "score",
        score.score,
        "Add the similarity of its rules' sides to a grammar.",
        "score paraphrases.gz --ngram novels.index -o scored.gz",
    ),
    (
        "rank",
        rank.rank,
        "Learn one score of all evidence from judged pairs.",
        "rank --learn judged.tsv --ngram novels.index -o my.weights",
    ),
    (
        "rerank",
        rerank.rerank,
        "Put a grammar's rules in order, the best first, and cut them.",
        "rerank scored.gz --ppdb-cost -o sorted.gz",
    ),
    (
        "make-grammar",
        make_grammar.make_grammar,
        "Align, extract, pivot, score and pack, in one command.",
        "make-grammar --bitext help.en help.de --index novels.index -o help",
    ),
    (
        "pack",
        pack.pack,
        "Cut a grammar into packs of several sizes, with an index.",
        "pack scored.gz -o packs",
    ),
    (
        "rules",
        pack.rules,
        "Show a packed grammar's rules for a source side.",
        "rules help/packs displays -k 2",
    ),
)
_commands(
    "Artifacts",
    (
        "info",
        info.info,
        "Describe an index, a table or any other artifact.",
        "info novels.index",
    ),
    ("verify", verify.verify, "Check an artifact for damage.", "verify novels.index"),
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from distsim.base.distribution import program_version

        print(f"distsim {program_version()}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
    unpack_limit: UnpackLimitOption = None,
) -> None:
    pass


_INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_ONE_TAP_SECONDS = 2.0
_BROKEN_PIPE = 128 + signal.SIGPIPE
_OUT_OF_MEMORY = "out of memory: lower --shard-tokens or --jobs, or use a larger machine"
_NO_ROOM = {  # what the loader of libraries and the interpreter say, and what is told
    "failed to map segment": _OUT_OF_MEMORY,
    "can't start new thread": "no thread can be started: raise the limit of memory (ulimit -v) or "
    "of processes (ulimit -u)",
}


def _obey_interrupts() -> None:
    """Raise Interrupted at Ctrl-C, SIGTERM and SIGHUP; a second tap does not disturb the first.

    A signal that the parent has set to be ignored (nohup) stays ignored.
    """
    last = -_ONE_TAP_SECONDS

    def obey(number: int, frame: Any) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _ONE_TAP_SECONDS:
            last = now
            interrupt(number)

    for number in _INTERRUPTS:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, obey)


def main() -> None:
    """Run the program and exit.

    0; 1 the input is at fault; 2 usage; 130 Ctrl-C, 141 nobody reads the output, 143 SIGTERM.
    """
    open_streams()
    try:
        _obey_interrupts()
        program = bounded(typer.main.get_command(app))
        status = program(prog_name="distsim", standalone_mode=False) or 0
        sys.stdout.flush()
    except typer.Exit as error:
        status = error.exit_code
    except DistsimError as error:
        status = _fail(in_flags(str(error)))
    except (Interrupted, KeyboardInterrupt, typer.Abort) as error:
        status = _interrupted(error)
    except SystemError as error:  # so it is raised where a signal came at a kernel's call
        if not isinstance(error.__cause__, Interrupted | KeyboardInterrupt):
            raise
        status = _interrupted(error.__cause__)
    except BrokenPipeError:
        status = _BROKEN_PIPE
    except SystemExit as error:  # what the argument parser makes of a broken pipe, or completion
        broken = isinstance(error.__context__, BrokenPipeError)
        status = _BROKEN_PIPE if broken else int(error.code or 0)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        status = _fail(f"{where}{error.strerror or error}{_remedy(error)}")
    except MemoryError:
        status = _fail(_OUT_OF_MEMORY)
    except (ImportError, RuntimeError) as error:
        said = next((said for met, said in _NO_ROOM.items() if met in str(error)), None)
        if said is None:
            raise
        status = _fail(said)
    except Exception as error:
        show = getattr(error, "show", None)  # a usage error of the argument parser
        if show is None:
            raise
        if hasattr(error, "message"):
            error.message = visible(error.message, sys.stderr)
        with suppress(OSError):
            show()
        status = getattr(error, "exit_code", 2)
    if status == 0:
        _mention_cache()
    for number in _INTERRUPTS:  # what could be stopped is done
        signal.signal(number, signal.SIG_IGN)
    close_output()
    sys.exit(status)


def _interrupted(error: BaseException) -> int:
    say("distsim: interrupted; nothing half-written is left behind")
    return 128 + (error.args[0] if isinstance(error, Interrupted) else signal.SIGINT)


def _fail(message: str) -> int:
    say(f"distsim: {message}")
    return 1


def _mention_cache() -> None:
    """Say so if every run has to compile the kernels anew."""
    kernels = sys.modules.get("distsim.kernels.compiled")
    if kernels is not None and kernels.uncached_kernels():
        say(
            "distsim: the compiled kernels could not be kept, so every run takes some seconds "
            "more: set NUMBA_CACHE_DIR to a folder that can be written"
        )


def _remedy(error: OSError) -> str:
    import errno

    return {
        errno.ENOSPC: ": free some space and run the same command again",
        errno.EDQUOT: ": free some space and run the same command again",
        errno.EACCES: ": change the permissions or name another place",
        errno.EPERM: ": change the permissions or name another place",
        errno.EROFS: ": name another place",
        errno.EFBIG: ": raise the limit of file sizes (ulimit -f) or name another disk",
        errno.EMFILE: ": raise the limit of open files (ulimit -n)",
        errno.ENFILE: ": close other programs' files or raise the system's limit",
        errno.EAGAIN: ": raise the limit of processes (ulimit -u)",
        errno.ENOMEM: ": free some memory, or use a larger machine",
        errno.EBADF: ": standard input or output is closed: open it, or name a file",
        errno.EIO: ": the disk or the connection to it is at fault: check it",
    }.get(error.errno or 0, "")


if __name__ == "__main__":
    main()
