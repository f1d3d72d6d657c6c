"""The exception of inventory files, and faults that never show secrets."""

import re

from truerail.files.problems import Faults, FileError, Problem

_NO_WORD = re.compile(r"[\s@]|^[*!&]")
"""A value with a blank may be a line that lost its colon, one with `@` a login, `*` and `!` start passwords that YAML
takes for an alias or a tag."""


class InventoryError(FileError):
    """An inventory that cannot be used. `str()` has one line for each of `problems`, and no secret."""


class InventoryFaults(Faults):
    """Collects the problems of one inventory; a value that might be, or contain, a secret is not shown."""

    def __init__(self, file: str) -> None:
        super().__init__(file, InventoryError)

    def add(self, line: int, value: str, summary: str) -> None:
        """Notes a fault that makes the file unusable, once: those of `defaults` come up again with each entry."""
        shown = "" if _NO_WORD.search(value) else value
        if Problem(self.file, line, shown, summary) not in self.found:
            super().add(line, shown, summary)
