"""Warnings about a capture besides the answers: each kind reported once, with a count and a few examples."""

from collections import Counter, defaultdict

from truerail.model.names import printable

_EXAMPLES = 3


class Notes:
    """Collects remarks. Fifty thousand unknown files make one line."""

    def __init__(self) -> None:
        self._count: Counter[str] = Counter()
        self._examples: defaultdict[str, list[str]] = defaultdict(list)

    def add(self, what: str, where: str, count: int = 1) -> None:
        """Remarks that `what` is so at `where`, which may be a foreign string."""
        self._count[what] += count
        if len(self._examples[what]) < _EXAMPLES:
            self._examples[what].append(printable(where, 120))

    def merge(self, later: "Notes") -> None:
        """Adds what was remarked after it, elsewhere."""
        self._count.update(later._count)
        for what, examples in later._examples.items():
            self._examples[what] = [*self._examples[what], *examples][:_EXAMPLES]

    def lines(self) -> tuple[str, ...]:
        """One line a kind: `unknown files: 12 (gpu-1/dmesg, gpu-2/dmesg, gpu-3/dmesg, ...)`."""
        return tuple(self._line(what, count) for what, count in self._count.items())

    def _line(self, what: str, count: int) -> str:
        examples = self._examples[what]
        more = ", ..." if count > len(examples) else ""
        return f"{what}: {count:,} ({', '.join(examples)}{more})"
