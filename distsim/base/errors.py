"""Exceptions of distsim; every message is one sentence. How distsim and its extras are installed.

The distribution is called otherwise than the package: `distsim` on the public index is another
project.
"""


class Interrupted(BaseException):
    """Raised when a signal asks the program to stop; unfinished files are removed on the way up.

    Python loses an exception that a signal raises inside a callback from compiled code, so
    long work asks for it again at its own steps (`check_interrupted`).
    """


_signals: list[int] = []


def interrupt(number: int) -> None:
    """Raise Interrupted for a signal, here and at the next step of running work."""
    _signals.append(number)
    raise Interrupted(number)


def check_interrupted() -> None:
    """Raise Interrupted if a signal to stop was received and no exception was raised for it yet.

    Raises:
        Interrupted: SIGINT or SIGTERM was received.
    """
    if _signals:
        raise Interrupted(_signals[0])


DISTRIBUTION = "distsim-phrases"
_LONGEST_MESSAGE = 1500  # characters


class DistsimError(Exception):
    """Base class of the errors that a user can cause and correct.

    A message that quotes a line of megabytes is cut in its middle, so that its end tells what to
    do.

    >>> import distsim
    >>> try:
    ...     distsim.CorpusIndex.open("nowhere")
    ... except distsim.DistsimError as error:
    ...     print(error)
    nowhere: no such folder: check the path
    """

    def __str__(self) -> str:
        message = Exception.__str__(self)  # KeyError's own shows the text as Python code
        if len(message) <= _LONGEST_MESSAGE:
            return message
        half = _LONGEST_MESSAGE // 2
        return f"{message[:half]} … {message[-half:]}"


class InputError(DistsimError):
    """Invalid input text; the message names the file and, for text, the line.

    >>> import distsim
    >>> _ = (folder / "pairs").write_text("king queen 7.5\\nking\\n")
    >>> try:
    ...     distsim.read_gold(folder / "pairs")
    ... except distsim.InputError as error:
    ...     print(str(error).removeprefix(f"{folder}/").split(", wanted")[0])
    pairs, line 2: one column
    """


class ArtifactError(DistsimError):
    """Missing, damaged or locked artifact: an index, a table or another folder written by distsim.

    >>> import distsim
    >>> (folder / "empty").mkdir()
    >>> try:
    ...     distsim.SignatureTable.open(folder / "empty")
    ... except distsim.ArtifactError as error:
    ...     print(str(error).removeprefix(f"{folder}/").split(":")[0])
    empty
    """


class IncompatibleError(DistsimError):
    """Artifacts that cannot be combined: they were made with different settings.

    >>> import distsim
    >>> try:
    ...     distsim.similarity(table, "king", "queen", other=learned)
    ... except distsim.IncompatibleError as error:
    ...     print(str(error).split("were not ")[1])
    made alike: model.window is 1 and 5; sign both with the same settings
    """


class UnknownPhraseError(DistsimError, KeyError):
    """A phrase has no vector in a table; also a KeyError, like a key that a dictionary lacks.

    >>> try:
    ...     table["zeppelin raid"]
    ... except KeyError as error:
    ...     print(str(error).partition(": ")[0])
    'zeppelin raid' has no vector
    """


class ParameterError(DistsimError, ValueError):
    """An argument has a value outside its range.

    >>> from distsim import Selection
    >>> Selection(min_count=0)
    Traceback (most recent call last):
        ...
    distsim.base.errors.ParameterError: `min_count` 0: choose 1 or more
    """


class EarlierVersionWarning(UserWarning):
    """An artifact of an earlier version is read, and differs from those that are made today.

    >>> issubclass(EarlierVersionWarning, UserWarning)
    True
    """


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


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, singular or plural.

    Arguments:
        number: 0 or more.
        noun: in the singular. plural: where it is not the noun with an `s`.

    >>> counted(1, "token"), counted(2000, "token")
    ('1 token', '2,000 tokens')
    >>> counted(2, "leaf", "leaves")
    '2 leaves'
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
