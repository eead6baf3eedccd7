"""The log: one JSON object in a line, on the error stream. It never holds a query unless that is asked for."""

from __future__ import annotations

import json
import logging
import time
from contextvars import ContextVar
from typing import Any

_LOGGER = logging.getLogger("breadth.service")

REQUEST_ID: ContextVar[str | None] = ContextVar("request_id", default=None)
"""The id of the request that is being answered."""

NOTES: ContextVar[dict[str, Any] | None] = ContextVar("notes", default=None)
"""What the line about the request that is being answered will also say."""


class JsonLines(logging.Formatter):
    """A record as a line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            **getattr(record, "entry", {"event": record.name, "message": record.getMessage()}),
        }
        if record.exc_info:
            entry["trace"] = self.formatException(record.exc_info)
        return json.dumps(entry, default=str)


def log_event(event: str, level: str = "info", exc_info: bool = False, **facts: Any) -> None:
    """Write a line about an event."""
    request = REQUEST_ID.get()
    entry = {"event": event, **({} if request is None else {"request": request}), **facts}
    _LOGGER.log(getattr(logging, level.upper()), event, extra={"entry": entry}, exc_info=exc_info)


def note(**facts: Any) -> None:
    """Add facts to the line about the request that is being answered."""
    notes = NOTES.get()
    if notes is not None:
        notes.update(facts)


LOG_CONFIG: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"()": "breadth.service.logs.JsonLines"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json", "stream": "ext://sys.stderr"}},
    "loggers": {
        "breadth.service": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
        "uvicorn": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
    },
}
"""For `logging.config.dictConfig`: lines of our own, and warnings of uvicorn."""
