"""Whether a module is one end of a cable with fixed ends, or a pluggable one behind which any fibre may be.

Both ends of a cable carry one serial number, modules never do: of 83 serial numbers of modules in recorded inventories
none occurs twice. The words are those of SFF-8024 (connectors, transmitter technologies) and of the makers' part
numbers: `CU`, `DAC`, `AOC`, `AEC`; NVIDIA's MCP, MCA (copper), MFS, MFA (active optical) and MMA, MMS (modules).
"""

import re
from typing import Any, Literal

_CABLE = re.compile(
    r"copper|twinax|no separable|pigtail|(?:active|passive)[ _]cable|active[ _]optical|(?<![a-z])(?:dac|aoc|aec|acc)"
    r"(?![a-z])|(?<![a-z])cu\d|base-?cr|-cr\d|^mc[pa]\d|^mf[sa]\d",
    re.IGNORECASE,
)
_MODULE = re.compile(
    r"\b(?:LC|MPO|CS|SN)\b|multi-?fiber|separable optical|base-?(?:[sldfez]r|bx)|-(?:[csldfez]r|sl)\d?(?:-|\b)"
    r"|^mm[as]\d",
    re.IGNORECASE,
)
Medium = Literal["cable", "module"] | None


def medium_of(*words: Any) -> Medium:
    """What the words about a module say of it; None if they do not say it."""
    said = [str(word) for word in words if word]
    if any(_CABLE.search(word) for word in said):
        return "cable"
    return "module" if any(_MODULE.search(word) for word in said) else None
