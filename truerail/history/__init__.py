"""The history store: Parquet files by day, for questions that were not foreseen.

In Python, `truerail.history(DIR)` opens a store for pandas: see `truerail.history.frames`.
"""

import sys
from os import PathLike
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from truerail.history.frames import Store


class _Opens(ModuleType):
    """This room, which also is the function `truerail.history`."""

    def __call__(self, path: "str | PathLike[str]") -> "Store":
        """Opens a store. Raises HistoryStoreError, MissingExtraError."""
        from truerail.history.frames import open_store

        return open_store(path)


sys.modules[__name__].__class__ = _Opens
