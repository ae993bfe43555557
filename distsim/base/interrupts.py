"""Signals that ask the program to stop, raised where its work can end."""


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
