"""The program `distsim`: its subcommands, and how every error becomes one sentence."""

import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Annotated, Any

import typer

from distsim.cli import (
    align,
    annotate,
    augment,
    contexts,
    count,
    demo,
    evaluate,
    extract,
    index,
    info,
    kwic,
    learn,
    merge,
    neighbours,
    ngrams,
    paraphrase,
    pivot,
    rerank,
    score,
    sign,
    similarity,
    substitute,
    verify,
)
from distsim.cli.console import in_flags, say
from distsim.cli.options import UnpackLimitOption
from distsim.errors import DistsimError
from distsim.parallel import Interrupted, interrupt

app = typer.Typer(
    name="distsim",
    help="Distributional similarity for phrases, from plain text alone.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(index.app, name="index", help="Build and extend the index of a corpus.")


def _command(name: str, function: Callable[..., Any]) -> None:
    app.command(name)(function)


_command("demo", demo.demo)
_command("info", info.info)
_command("verify", verify.verify)
_command("count", count.count)
_command("kwic", kwic.kwic)
_command("ngrams", ngrams.ngrams)
_command("contexts", contexts.contexts)
_command("annotate", annotate.annotate)
_command("align", align.align)
_command("learn", learn.learn)
_command("sign", sign.sign)
_command("merge", merge.merge)
_command("similarity", similarity.similarity)
_command("neighbours", neighbours.neighbours)
_command("paraphrase", paraphrase.paraphrase)
_command("substitute", substitute.substitute)
_command("augment", augment.augment)
_command("evaluate", evaluate.evaluate)
_command("extract", extract.extract)
_command("score", score.score)
_command("rerank", rerank.rerank)
_command("pivot", pivot.pivot)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"distsim {version('distsim')}")
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
    """Run the program and exit: 0; 1 the input is at fault; 2 usage; 130 Ctrl-C, 143 SIGTERM."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace", newline="\n")  # type: ignore[union-attr]
    try:
        _obey_interrupts()
        status = app(standalone_mode=False) or 0
        sys.stdout.flush()
    except typer.Exit as error:
        status = error.exit_code
    except DistsimError as error:
        status = _fail(in_flags(str(error)))
    except (Interrupted, KeyboardInterrupt, typer.Abort) as error:
        say("distsim: interrupted; nothing half-written is left behind")
        status = 128 + (error.args[0] if isinstance(error, Interrupted) else signal.SIGINT)
    except BrokenPipeError:
        status = 128 + signal.SIGPIPE
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        status = _fail(f"{where}{error.strerror or error}{_remedy(error)}")
    except MemoryError:
        status = _fail("out of memory: lower --shard-tokens or --jobs, or use a larger machine")
    except Exception as error:
        show = getattr(error, "show", None)  # a usage error of the argument parser
        if show is None:
            raise
        show()
        status = getattr(error, "exit_code", 2)
    if status == 0:
        _mention_cache()
    for number in _INTERRUPTS:  # what could be stopped is done
        signal.signal(number, signal.SIG_IGN)
    try:
        sys.stdout.flush()
    except OSError:  # the pipe is closed or the disk is full: do not try again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)


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
        errno.ENOMEM: ": free some memory, or use a larger machine",
        errno.EIO: ": the disk or the connection to it is at fault: check it",
    }.get(error.errno or 0, "")


if __name__ == "__main__":
    main()
