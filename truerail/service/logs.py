"""Structured logs on stderr: one event per line, as JSON for machines or as text for people."""

import logging
import sys
from typing import Any

import structlog

from truerail.model.names import printable
from truerail.service.settings import Log

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def set_up(log: Log) -> None:
    """Sends the service's logs and its libraries' warnings to stderr in one format."""
    level = _LEVELS[log.level]
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
        _safe,
    ]
    last: Any = structlog.processors.JSONRenderer() if log.format == "json" else _as_text
    structlog.configure(
        processors=[*shared, structlog.processors.format_exc_info, last],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    formatter = structlog.stdlib.ProcessorFormatter
    named, ending = [structlog.stdlib.add_logger_name, *shared], [structlog.processors.format_exc_info, last]
    handler.setFormatter(formatter(foreign_pre_chain=named, processors=[formatter.remove_processors_meta, *ending]))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.captureWarnings(capture=True)


def logger() -> Any:
    """The service's logger."""
    return structlog.get_logger()


def _safe(_: Any, __: str, event: Any) -> Any:
    """Escapes foreign text, so that it cannot control a terminal or forge a line."""
    return {key: printable(value, 2000) if isinstance(value, str) else value for key, value in event.items()}


def _as_text(_: Any, __: str, event: Any) -> str:
    """`2026-11-20T14:00:00Z warning device silent  device=leaf-3`."""
    at, level, what = event.pop("at"), event.pop("level"), event.pop("event")
    broke = event.pop("exception", "")
    words = " ".join(f"{key}={value!r}" if " " in str(value) else f"{key}={value}" for key, value in event.items())
    return f"{at} {level:<7} {what}{'  ' if words else ''}{words}{chr(10) if broke else ''}{broke}"
