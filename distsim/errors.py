"""What can go wrong, as one small family of exceptions; every message is one sentence."""


class DistsimError(Exception):
    """Root of all errors that a user of distsim can cause and mend."""


class InputError(DistsimError):
    """Text that was read is at fault; the message names the file and, for text, the line."""


class ArtifactError(DistsimError):
    """A folder on disk is not a usable index, table or other artifact of ours."""


class IncompatibleError(DistsimError):
    """Two things that were made with different settings were to be compared or merged."""


class ParameterError(DistsimError, ValueError):
    """An argument has a value outside its range."""
