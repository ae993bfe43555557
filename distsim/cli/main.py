"""The program `distsim`: its options, signals, exit statuses and messages of errors."""

import signal
import sys
import time
import warnings
from contextlib import suppress
from typing import Annotated, Any

import typer

from distsim.base.errors import DistsimError, EarlierVersionWarning, Interrupted, interrupt
from distsim.cli.console import close_output, in_flags, open_streams, say, visible
from distsim.cli.options import UnpackLimitOption
from distsim.cli.usage import Grouped, overview

app = typer.Typer(
    name="distsim",
    cls=Grouped,
    help="Distributional similarity for phrases, from plain text alone.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from distsim.base.errors import program_version

        print(f"distsim {program_version()}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
    unpack_limit: UnpackLimitOption = None,
) -> None:
    if context.invoked_subcommand is None:
        print(overview())


_INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_ONE_TAP_SECONDS = 2.0
_BROKEN_PIPE = 128 + signal.SIGPIPE
_OUT_OF_MEMORY = (
    "out of memory: lower --memory, --jobs or --set shard_tokens, or use a larger machine"
)
_NO_ROOM = {  # what the loader of libraries and the interpreter say, and what is told
    "failed to map segment": _OUT_OF_MEMORY,
    "can't start new thread": "no thread can be started: raise the limit of memory (ulimit -v) or "
    "of processes (ulimit -u)",
}


def _obey_interrupts() -> None:
    """Raise Interrupted at Ctrl-C, SIGTERM and SIGHUP; a repeated signal is ignored.

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


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Print what a library has to say, its own place in the code left out."""
    say(str(message) if category is EarlierVersionWarning else f"{category.__name__}: {message}")


def main() -> None:
    """Run the program and exit.

    Exit status: 0; 1 invalid input; 2 usage; 130 Ctrl-C; 141 output closed; 143 SIGTERM.
    """
    open_streams()
    warnings.filterwarnings("once", category=EarlierVersionWarning)
    warnings.showwarning = _show_warning
    try:
        _obey_interrupts()
        program = typer.main.get_command(app)
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
        if hasattr(error, "message") and type(error).__name__ != "NoArgsIsHelpError":
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
    """Print a warning if every run has to compile the kernels again."""
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
