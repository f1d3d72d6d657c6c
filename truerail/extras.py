"""The extras, `pip install 'truerail[NAME]'`: the modules that each brings, and the error where one is absent."""

from importlib.util import find_spec
from typing import Final

from truerail.errors import MissingExtraError, TransportError

EXTRAS: Final = {
    "serve": (
        *("alembic", "cryptography", "fastapi", "prometheus_client", "pydantic_settings", "sqlalchemy", "starlette"),
        *("structlog", "uvicorn"),
    ),
    "bus": ("nats", "nkeys"),
    "gnmi": ("grpc", "pygnmi"),
    "history": ("duckdb", "pandas", "pyarrow"),
    "mcp": ("mcp",),
    "netbox": ("pynetbox",),
    "otlp": ("opentelemetry.exporter.otlp.proto.http", "opentelemetry.sdk"),
    "pack": ("reportlab", "segno"),
    "postgres": ("psycopg",),
    "snmp": ("pysnmp",),
    "switches": ("netmiko", "paramiko"),
}
"""The modules that the code imports. `switches`: the command lines of switches by SSH; Linux needs none of it."""


def require(extra: str, feature: str) -> None:
    """Raises MissingExtraError if `feature` lacks a module of its extra."""
    if not installed(extra):
        raise MissingExtraError(extra, feature)


def needs(extra: str, feature: str) -> None:
    """The same for a device: raises TransportError, so that the others are asked."""
    if not installed(extra):
        raise TransportError(str(MissingExtraError(extra, feature)))


def installed(extra: str) -> bool:
    """Whether all modules of an extra are there."""
    return all(map(_is_there, EXTRAS[extra]))


def extra_of(module: str) -> str | None:
    """The extra that brings a module."""
    return next((name for name, modules in EXTRAS.items() if _within(module, modules)), None)


def _within(module: str, modules: tuple[str, ...]) -> bool:
    return any(f"{module}.".startswith(f"{one}.") or f"{one}.".startswith(f"{module}.") for one in modules)


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package above it is absent
        return False
