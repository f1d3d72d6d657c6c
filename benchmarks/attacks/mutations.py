"""Recorded answers, mutated: pieces cut out, doubled or replaced, values of other types, brackets without end."""

import json
import random
from functools import cache
from pathlib import Path

RECORDINGS = Path(__file__).parents[2] / "tests" / "recordings"
WORDS = (
    *("null", "{}", "[]", "true", "1", "-1", "1e400", '""', '"x"', "NaN", "9" * 30, "9" * 5000, "\u0663", "\u00b2"),
    *("x", "", "{", "}", "[", "]", '"', ":", ",", "\n", "\t", "  ", "-", "--", "N/A", "/", ".", "|", "=", "\x00", "0x"),
)
"""What a mutation puts in the place of something else."""
DEEP = ('{"a":' * 30_000, "[" * 90_000, "[" * 90_000 + "]" * 90_000, "<a>" * 30_000)
VALUES: tuple[object, ...] = (None, 7, "x", "", True, [], {}, [1], ["x"], {"a": 1}, -1, 1.5, [None], [[]], [{}], 10**30)


@cache
def recorded(name: str) -> tuple[str, ...]:
    """The recorded answers of a collector."""
    return tuple(path.read_bytes().decode() for path in sorted((RECORDINGS / name).glob("*/answer.txt")))


def mutated(name: str, drawn: random.Random) -> str:
    """A mutation of a recorded answer of a collector, or of two."""
    answer = drawn.choice(recorded(name))
    if drawn.random() < 0.15:
        answer = _of_other_rows(answer, drawn.choice(recorded(name)), drawn)
    return mutation(answer, drawn)


def mutation(answer: str, drawn: random.Random) -> str:
    """The answer with pieces cut out, doubled or replaced; a document in every other case with values replaced."""
    if answer[:1] in ("{", "[") and drawn.random() < 0.5:
        try:
            document = json.loads(answer)
        except ValueError:
            pass
        else:
            return json.dumps(_of_another_type(document, drawn, drawn.choice((0.3, 0.1, 0.03))))
    for _ in range(drawn.randint(1, 3)):
        start = drawn.randint(0, len(answer))
        end = min(len(answer), start + drawn.choice((0, 1, 3, 10, 60, 200)))
        word = drawn.choice(DEEP if drawn.random() < 0.005 else WORDS)
        piece = drawn.choice((answer[start:end] * 2, word, word))
        answer = answer[:start] + piece + answer[end:]
    return answer


def _of_other_rows(answer: str, other: str, drawn: random.Random) -> str:
    """Rows exchanged, left out or doubled; its end cut off, or another answer's."""
    rows, cut = answer.split("\n"), drawn.randint(0, len(answer))
    one, two = drawn.randrange(len(rows)), drawn.randrange(len(rows))
    moved = rows[:]
    moved[one], moved[two] = rows[two], rows[one]
    return drawn.choice(
        (
            "\n".join(moved),
            "\n".join(rows[:one] + rows[one + 1 :]),
            "\n".join(rows[:one] + rows[two:]),
            answer[:cut],
            answer[:cut] + other[drawn.randint(0, len(other)) :],
        )
    )


def _of_another_type(value: object, drawn: random.Random, chance: float) -> object:
    """A document with values of other types here and there."""
    if drawn.random() < chance:
        return drawn.choice(VALUES)
    if isinstance(value, dict):
        return {key: _of_another_type(one, drawn, chance) for key, one in value.items()}
    return [_of_another_type(one, drawn, chance) for one in value] if isinstance(value, list) else value
