"""The distribution that the package is installed from: its name, its version, its extras.

It is called otherwise than the package: `distsim` on the public index is another project.
"""

DISTRIBUTION = "distsim-phrases"


def program_version() -> str:
    """Return the version that is installed.

    >>> program_version().count(".")
    2
    """
    from importlib.metadata import version  # slow to import, and seldom needed

    return version(DISTRIBUTION)


def how_to_install(extra: str) -> str:
    """Return how the packages of an extra are installed, for the end of a message.

    Arguments:
        extra: name of an extra of the package, such as `serve`.

    >>> how_to_install("serve")[:66]
    "install it with pip install '.[serve]' in the clone of distsim, or"
    """
    wheel = f"{DISTRIBUTION.replace('-', '_')}-{program_version()}-py3-none-any.whl"
    return (
        f"install it with pip install '.[{extra}]' in the clone of distsim, or with "
        f"pip install '{wheel}[{extra}]'"
    )
