"""Host patterns of Ansible: `gpu[001:064].example.com`, `leaf-[a:d]`, `gpu[1:63:2]:2222`.

Format: "Adding ranges of hosts" in Ansible's guide to inventories; ends are inclusive, a third number is the step,
leading zeros in the first number pad all.
"""

import re
from itertools import product
from string import ascii_letters

from truerail.errors import NodeSetError
from truerail.files.nodesets import Budget

_RANGE = re.compile(r"\[([0-9]{1,9}|[A-Za-z]):([0-9]{1,9}|[A-Za-z])(?::([0-9]{1,9}))?\]", re.ASCII)
_PORT = re.compile(r"^((?:[^:\[\]]|\[[^\[\]]*\])+):(\d{1,5})$", re.ASCII)


def host_names(pattern: str, budget: Budget) -> tuple[list[str], str]:
    """The names that a pattern expands to, and the port behind it, empty if there is none. Raises NodeSetError."""
    shape = _PORT.match(pattern)
    pattern, port = (shape[1], shape[2]) if shape else (pattern, "")
    choices: list[list[str]] = []
    end = 0
    for found in _RANGE.finditer(pattern):
        choices += [[pattern[end : found.start()]], _expanded(found[1], found[2], found[3], budget)]
        end = found.end()
    choices.append([pattern[end:]])
    if "[" in "".join(choice[0] for choice in choices[::2]):
        raise NodeSetError("expected a range such as [01:64] or [a:f]")
    count = 1
    for choice in choices:
        count *= len(choice)
    budget.take(count)
    return ["".join(chosen) for chosen in product(*choices)], port


def _expanded(first: str, last: str, step: str | None, budget: Budget) -> list[str]:
    stride = int(step or 1)
    if first.isdigit() != last.isdigit() or not stride:
        raise NodeSetError(f"[{first}:{last}{f':{step}' if step else ''}] is no range")
    padded = first.isdigit() and first.startswith("0") and len(first) > 1
    if padded and len(first) != len(last):
        raise NodeSetError(f"[{first}:{last}]: both ends of a padded range need as many digits")
    alphabet = None if first.isdigit() else ascii_letters
    low, high = (int(first), int(last)) if alphabet is None else (alphabet.index(first), alphabet.index(last))
    if high < low:
        raise NodeSetError(f"the range [{first}:{last}] runs backwards")
    budget.take((high - low) // stride + 1)
    width = len(first) if padded else 0
    return [str(at).zfill(width) if alphabet is None else alphabet[at] for at in range(low, high + 1, stride)]
