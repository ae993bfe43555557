"""The program `distsim`: its subcommands, and how every error becomes one sentence."""

import os
import signal
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from distsim.cli import (
    contexts,
    count,
    demo,
    evaluate,
    index,
    info,
    kwic,
    learn,
    neighbours,
    ngrams,
    sign,
    similarity,
    verify,
)
from distsim.cli.console import say
from distsim.errors import DistsimError

_INTERRUPTED = 130

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
_command("learn", learn.learn)
_command("sign", sign.sign)
_command("similarity", similarity.similarity)
_command("neighbours", neighbours.neighbours)
_command("evaluate", evaluate.evaluate)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"distsim {version('distsim')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Say it.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the program and exit: 0; 1 the input is at fault; 2 usage; 130 Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace", newline="\n")  # type: ignore[union-attr]
    try:
        status = app(standalone_mode=False) or 0
        if status == _INTERRUPTED:  # newer argument parsers turn Ctrl-C into a status
            raise KeyboardInterrupt
        sys.stdout.flush()
    except typer.Exit as error:
        status = error.exit_code
    except DistsimError as error:
        status = _fail(str(error))
    except (KeyboardInterrupt, typer.Abort):
        say("distsim: interrupted; what was being written is not kept")
        status = _INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
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
    sys.exit(status)


def _fail(message: str) -> int:
    say(f"distsim: {message}")
    return 1


def _remedy(error: OSError) -> str:
    import errno

    return {
        errno.ENOSPC: ": free some space and run the same command again",
        errno.EDQUOT: ": free some space and run the same command again",
        errno.EACCES: ": change the permissions or name another place",
        errno.EPERM: ": change the permissions or name another place",
        errno.EROFS: ": name another place",
        errno.EMFILE: ": raise the limit of open files (ulimit -n)",
    }.get(error.errno or 0, "")


if __name__ == "__main__":
    main()
