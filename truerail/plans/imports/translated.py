"""German and Chinese words of cable lists as English ones: `Zielgerät` is `dest device`, `对端端口` is `remote port`.

Both languages join words: their parts are translated wherever they stand in a header's cell, the first of the table
that fits at each place. A cell of ASCII alone is German only with a word that English headers do not have.
"""

import re
import tomllib
import unicodedata
from importlib.resources import files
from typing import Final

_WORDS: Final = tomllib.loads(files(__package__).joinpath("header_words.toml").read_text(encoding="utf-8"))
_END_LAST: Final = re.compile(
    r"(.+?)\s*(?:\b(?:der|des)\s+)?\(?\b(quelle|ziel|gegenstelle|源端?|目的端?|本端|对端)\)?", re.IGNORECASE
)
"""`Port Ziel`, `Port der Gegenstelle`, `端口(对端)`: the end stands last."""
_ANY: Final = re.compile("|".join(f"(?:{part})" for part in _WORDS["translated"]), re.IGNORECASE)
_EACH: Final = tuple((re.compile(part, re.IGNORECASE), english) for part, english in _WORDS["translated"].items())


def meanings(table: str) -> dict[str, str]:
    """What each English word means, by a table of `header_words.toml`."""
    return {word: meaning for meaning, listed in _WORDS[table].items() for word in listed}


def pattern(name: str) -> re.Pattern[str]:
    """Words that mean one thing, by their name in `header_words.toml`."""
    return re.compile("|".join(_WORDS["patterns"][name]), re.IGNORECASE)


def in_english(cell: str) -> str:
    """A header's cell with its German and Chinese words in English, and Latin letters in place of full-width ones."""
    plain = unicodedata.normalize("NFKC", cell).strip()
    if last := _END_LAST.fullmatch(plain):
        plain = f"{last[2]} {last[1]}"
    return _ANY.sub(_translated, plain) if _ANY.search(plain) else plain


def _translated(found: re.Match[str]) -> str:
    for part, english in _EACH:
        whole = part.match(found.string, found.start())
        if whole and whole.end() == found.end():
            return f" {whole.expand(english)} "
    return found[0]
