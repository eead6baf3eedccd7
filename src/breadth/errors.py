"""Every error that `breadth` raises on purpose.

BreadthError
├── InputError (ValueError)         an argument is wrong; the message names it, what was seen and what to do
│   ├── TooLargeError               the request is well formed, but larger than the method accepts
│   └── NothingAllowedError         the constraints leave no row to choose
├── OracleError (TypeError)         an oracle lacks an ability, or breaks the protocol
├── EngineError (RuntimeError)      a vector engine cannot be reached, was closed, or refuses a request
├── ContractError (AssertionError)  an oracle breaks a promise that `breadth.testing.check_oracle` checks
├── EncoderError (RuntimeError)     a model cannot be loaded, or an endpoint does not answer
├── EndpointError (RuntimeError)    a language model's endpoint does not answer, or refuses
├── StoreError (RuntimeError)       an index on disk cannot be used: it is locked, closed, full or of another encoder
│   └── DamagedError                a file does not hold what was written to it
├── WorkerError (RuntimeError)      something outside breadth ended a worker process
└── MissingExtraError (ImportError) an optional package is not installed; the message names the extra
"""

from __future__ import annotations


def hint_install(extra: str) -> str:
    """Say how to install an extra. The package is not on an index of packages yet: it installs from a clone."""
    return f"in your clone of breadth, run: pip install '.[{extra}]'"


class BreadthError(Exception):
    """The base class of all errors of this package."""


class InputError(BreadthError, ValueError):
    """An argument is wrong. The message names it, what was seen and what to do."""


class TooLargeError(InputError):
    """The request is well formed, but larger than the method accepts."""


class NothingAllowedError(InputError):
    """The constraints leave no row to choose. `because` has the names of those that may be the reason."""

    def __init__(self, message: str, because: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.because = because


class OracleError(BreadthError, TypeError):
    """An oracle lacks an ability that the call needs, or its answer breaks the protocol."""


class EngineError(BreadthError, RuntimeError):
    """A vector engine cannot be reached, does not answer in time, was closed, or refuses a request."""


class ContractError(BreadthError, AssertionError):
    """An oracle breaks a promise that `breadth.testing.check_oracle` checks."""


class EncoderError(BreadthError, RuntimeError):
    """An encoder's model cannot be loaded, or its endpoint does not answer."""


class EndpointError(BreadthError, RuntimeError):
    """The endpoint of a language model does not answer, or refuses the request."""


class StoreError(BreadthError, RuntimeError):
    """An index on disk cannot be used: it is locked, closed, full or of another encoder."""


class DamagedError(StoreError):
    """A file does not hold what was written to it: a checksum differs, or a part is missing."""


class WorkerError(BreadthError, RuntimeError):
    """Something outside `breadth` ended a worker process, for example for lack of memory."""


class MissingExtraError(BreadthError, ImportError):
    """An optional package is not installed. The message names the extra that installs it."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; {hint_install(extra)}")
        self._made_from = (package, extra)

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str]]:
        """Support pickling: that is how a worker's error reaches its parent."""
        return type(self), self._made_from
