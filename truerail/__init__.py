"""truerail: validates the cabling of rail-optimized GPU fabrics, names the cause and the smallest repair."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from truerail.history.frames import open_store as history

__version__ = "0.1.0"
__all__ = ["__version__", "history"]


def __getattr__(name: str) -> Any:
    """`truerail.history`, loaded when it is first used."""
    if name == "history":
        from importlib import import_module

        return import_module("truerail.history")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
