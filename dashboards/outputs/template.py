"""What an annotation says for given labels, as tests expect it: the part of Go's templates that our annotations use."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

_TOKEN: Final = re.compile(r"(\{\{ .*? \}\})")


def rendered(text: str, labels: Mapping[str, str], value: float) -> str:
    """The text with labels and value filled in. Raises ValueError for what is not known here."""
    return "".join(_block(iter(_TOKEN.split(text)), labels, value, [True]))


def _block(tokens: Iterator[str], labels: Mapping[str, str], value: float, shown: list[bool]) -> Iterator[str]:
    """`shown` says for each open `if` whether its text counts, `taken` whether one of its branches has."""
    taken = [True]
    for token in tokens:
        if not token.startswith("{{"):
            yield token if all(shown) else ""
            continue
        words = token[2:-2].split()
        if words[0] == "if":
            shown.append(_holds(words[1:], labels))
            taken.append(shown[-1])
        elif words[0] == "else":
            shown[-1] = not taken[-1] and (len(words) == 1 or _holds(words[2:], labels))
            taken[-1] |= shown[-1]
        elif words[0] == "end":
            shown.pop()
            taken.pop()
        elif all(shown):
            yield _value(words, labels, value)


def _holds(words: list[str], labels: Mapping[str, str]) -> bool:
    """A label alone holds where it is not empty; `eq` compares it with a text in quotes."""
    match words:
        case ["eq", label, wanted]:
            return labels.get(label.removeprefix("$labels."), "") == wanted.strip('"')
        case [label]:
            return bool(labels.get(label.removeprefix("$labels.")))
    raise ValueError(f"no template of ours asks {' '.join(words)!r}")


def _value(words: list[str], labels: Mapping[str, str], value: float) -> str:
    match words:
        case ["$value"]:
            return f"{value:g}"
        case ["$value", "|", "humanizePercentage"]:
            return f"{value * 100:.4g}%"
        case ["$value", "|", "humanizeDuration"]:
            return _duration(int(value))
        case [label] if label.startswith("$labels."):
            return labels.get(label.removeprefix("$labels."), "")
    raise ValueError(f"no template of ours says {' '.join(words)!r}")


def _duration(seconds: int) -> str:
    """As Prometheus writes it, for minutes and hours."""
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return f"{hours}h {minutes}m {seconds % 60}s" if hours else f"{minutes}m {seconds % 60}s"
