"""The command line: a function for each subcommand parses, calls the library and prints."""

if __name__ != "distsim.cli":
    raise ImportError(
        f"import this package as distsim.cli, not as {__name__}: "
        "a module loaded under two names has two of every class"
    )
