"""`distsim serve INDEX`: a web page and a JSON API."""

from typing import Annotated

import typer

from distsim.base.errors import ParameterError, how_to_install
from distsim.cli.console import say
from distsim.cli.options import HeldMemoryOption, limit_memory


def serve(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    table: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="Signatures; default: those inside the index."),
    ] = None,
    syntax: Annotated[
        str | None, typer.Option(metavar="TABLE", help="A table of syntactic contexts beside it.")
    ] = None,
    grammar: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Rules: packs of `make-grammar` or `pack`."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="INDEX", help="The reference corpus of keywords."),
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; 0.0.0.0: for everyone.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 8765,
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A further name that the server answers to."),
    ] = None,
    log: Annotated[bool, typer.Option(help="A line on standard error for each request.")] = True,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Questions answered side by side.")
    ] = None,
    memory: HeldMemoryOption = None,
) -> None:
    """Serve a page and an API until Ctrl-C or SIGTERM.

    The page is at /, what programs may ask at /api and /openapi.json. Only this machine can
    reach it unless --host says otherwise. An index that grows is picked up.
    """
    from distsim.server.session import Places

    limit_memory(memory)
    run(Places(index, table, syntax, grammar, against), host, port, name or [], jobs, log)


def run(places, host, port, names, jobs=None, log=True) -> None:  # type: ignore[no-untyped-def]
    """Run the server until it is stopped; print its address.

    Arguments:
        places: Places, the paths of what is served.
        host, port: where it listens.
        names: other host names by which it is reached.
        jobs: threads of a question; all cores where None.

    Raises:
        ParameterError: the extra is not installed.
    """
    require_server()
    from distsim.server.run import serve as engine

    def ready(address: str) -> None:
        print(address, flush=True)

    engine(places, host=host, port=port, names=names, jobs=jobs, log=log, ready=ready)
    say("distsim: ended")


def require_server() -> None:
    """Raise if the extra is not installed.

    Raises:
        ParameterError: a package is missing; the message says how to get it.
    """
    try:
        import distsim.server.run  # noqa: F401
    except ImportError as error:
        raise ParameterError(f"a server needs {error.name}: {how_to_install('serve')}") from None
