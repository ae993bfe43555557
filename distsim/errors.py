"""What can go wrong, as one small family of exceptions; every message is one sentence."""


class DistsimError(Exception):
    """Root of all errors that a user of distsim can cause and mend.

    >>> import distsim
    >>> try:
    ...     distsim.CorpusIndex.open("nowhere")
    ... except distsim.DistsimError as error:
    ...     print(error)
    nowhere: no such folder: check the path
    """


class InputError(DistsimError):
    """Text that was read is at fault; the message names the file and, for text, the line."""


class ArtifactError(DistsimError):
    """A folder on disk is not a usable index, table or other artifact of ours."""


class IncompatibleError(DistsimError):
    """Two things that were made with different settings were to be compared or merged."""


class ParameterError(DistsimError, ValueError):
    """An argument has a value outside its range.

    >>> from distsim import Selection
    >>> Selection(min_count=0)
    Traceback (most recent call last):
        ...
    distsim.errors.ParameterError: `min_count` 0: choose 1 or more
    """
