"""Mutated answers for every collector: which readers break, and which take long.

    .venv/bin/python -m benchmarks.attacks.fuzz FILE [SLICES]

A slice is 100 answers of each collector, the same ones in every run. FILE keeps what was found: the next run goes on
behind the last slice. A fault's example is (collector, slice, place in it).
"""

import json
import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.attacks.mutations import mutated
from collector import collectors
from truerail.errors import ReaderFaultError, TooMuchError, UnreadableError
from truerail.model import Device
from truerail.model.answer_limits import MOST_SECONDS

EACH = 100
GPU = Device("gpu-001")
_EXAMPLES = 30


def main(kept: Path, slices: int) -> None:
    """Prints the counts after each slice."""
    found: dict[str, Any] = {"slices": 0, "counts": {}, "longest": 0.0, "faults": {}}
    found |= json.loads(kept.read_text()) if kept.exists() else {}
    counts = Counter[str](found["counts"])
    for number in range(found["slices"], found["slices"] + slices):
        for name in sorted(collectors()):
            drawn = random.Random(f"{name}/{number}")  # noqa: S311 - reproducible, and no secret
            for place in range(EACH):
                answer = mutated(name, drawn)
                result, seconds = tried(name, answer)
                found["longest"] = max(found["longest"], seconds)
                slow = seconds > MOST_SECONDS or "seconds" in result
                counts.update(("answers", result.partition(":")[0], *(["over 2 s"] if slow else ())))
                if (slow or result.startswith("broken")) and len(found["faults"].setdefault(result, [])) < _EXAMPLES:
                    found["faults"][result].append((name, number, place))
        found |= {"slices": number + 1, "counts": counts}
        kept.with_suffix(".new").write_text(json.dumps(found, indent=1))
        kept.with_suffix(".new").replace(kept)
        sys.stdout.write(f"{dict(counts)}, longest {found['longest']:.2f} s\n")
        sys.stdout.flush()


def tried(name: str, answer: str) -> tuple[str, float]:
    """What came of an answer, and its seconds of processor time."""
    begun = time.thread_time()
    try:
        collectors()[name].read(answer, GPU)
        result = "read"
    except ReaderFaultError as error:
        result = f"broken: {name}: {error}"
    except TooMuchError as error:
        result = "too slow: seconds" if f"{MOST_SECONDS:g} s to read" in str(error) else "refused as endless"
    except UnreadableError:
        result = "refused"
    except Exception as error:  # noqa: BLE001 - what is looked for
        result = f"broken: {name}: {type(error).__name__}: {error}"
    return result, time.thread_time() - begun


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
