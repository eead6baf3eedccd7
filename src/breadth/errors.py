"""Every error `breadth` raises on purpose.

BreadthError
├── InputError (ValueError)         an argument is wrong: the message names it, what was seen, what to do
│   └── TooLargeError               the request is well formed but beyond what the method can do
├── OracleError (TypeError)         an oracle lacks an ability, or broke the protocol
├── EncoderError (RuntimeError)     a model cannot be loaded, or an endpoint does not answer
├── EndpointError (RuntimeError)    a language model's endpoint does not answer, or refuses
├── StoreError (RuntimeError)       an index on disk cannot be used as asked: locked, damaged, of another encoder
├── WorkerError (RuntimeError)      a process that worked for us was ended from outside
└── MissingExtraError (ImportError) an optional package is not installed: the message names the extra
"""

from __future__ import annotations


class BreadthError(Exception):
    """Base class of all errors of this package."""


class InputError(BreadthError, ValueError):
    """An argument is wrong."""


class TooLargeError(InputError):
    """The request is well formed, but larger than the method accepts."""


class OracleError(BreadthError, TypeError):
    """An oracle lacks an ability that was asked for, or answered outside the protocol."""


class EncoderError(BreadthError, RuntimeError):
    """An encoder's model cannot be loaded, or its endpoint does not answer."""


class EndpointError(BreadthError, RuntimeError):
    """The endpoint of a language model does not answer, or refuses the request."""


class StoreError(BreadthError, RuntimeError):
    """An index on disk cannot be used as asked."""


class WorkerError(BreadthError, RuntimeError):
    """A process that worked for us was ended from outside."""


class MissingExtraError(BreadthError, ImportError):
    """An optional package is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; get it with: pip install 'breadth[{extra}]'")
        self._made_from = (package, extra)

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str]]:
        """A worker's error reaches its parent pickled."""
        return type(self), self._made_from
