"""The behaviours of a simulated fabric, and which of its devices and ports show them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2s

from truerail.simulator.behaviours.catalogue import CATALOGUE, Behaviour


@dataclass(frozen=True, slots=True)
class Choice:
    """One enabled behaviour: its variant, and its share of devices or ports."""

    value: str
    share: float


@dataclass(frozen=True, slots=True)
class Behaviours:
    """The behaviours of one fabric. The same `seed` picks the same devices."""

    choices: Mapping[str, Choice] = field(default_factory=dict)
    seed: int = 0

    @classmethod
    def of(cls, flags: Iterable[str], seed: int = 0) -> "Behaviours":
        """Behaviours by their written form: `name`, `name=value`, `name@share` or `name=value@share`.

        Raises ValueError for a name or a value that is not in the catalogue.
        """
        chosen = dict(map(parse_flag, flags))
        implied = {name: parse_flag(name)[1] for flag in chosen for name in CATALOGUE[flag].implies}
        return cls({**implied, **chosen}, seed)

    def __contains__(self, name: str) -> bool:
        return _known(name).name in self.choices

    def value(self, name: str) -> str:
        """The enabled variant; empty if the behaviour is off."""
        choice = self.choices.get(_known(name).name)
        return choice.value if choice else ""

    def value_for(self, name: str, *key: object) -> str:
        """The variant that this device or port shows; empty if it does not."""
        return self.value(name) if self.hits(name, *key) else ""

    def hits(self, name: str, *key: object) -> bool:
        """Whether this device or port is among those that show the behaviour."""
        choice = self.choices.get(_known(name).name)
        return choice is not None and (choice.share >= 1.0 or self.draw(name, *key) < choice.share)

    def draw(self, *key: object) -> float:
        """A number from 0 to 1 that depends only on the seed and the key."""
        text = "/".join(map(str, (self.seed, *key)))
        return int.from_bytes(blake2s(text.encode(), digest_size=4).digest()) / 2**32

    def flags(self) -> tuple[str, ...]:
        """The written form of every choice."""
        return tuple(_written(name, choice) for name, choice in sorted(self.choices.items()))


NONE = Behaviours()


def parse_flag(flag: str) -> tuple[str, Choice]:
    """Name and choice of one written behaviour."""
    rest, _, share = flag.partition("@")
    name, _, value = rest.partition("=")
    behaviour = _known(name)
    value = value or (behaviour.values[0] if behaviour.values else "")
    if behaviour.values and value not in behaviour.values:
        raise ValueError(f"{name} has no value {value!r}; known are {', '.join(behaviour.values)}")
    if value and not behaviour.values:
        raise ValueError(f"{name} takes no value")
    return name, Choice(value, float(share) if share else behaviour.share)


def _known(name: str) -> Behaviour:
    behaviour = CATALOGUE.get(name)
    if behaviour is None:
        raise ValueError(f"no behaviour is called {name!r}; known are {', '.join(sorted(CATALOGUE))}")
    return behaviour


def _written(name: str, choice: Choice) -> str:
    value = f"={choice.value}" if choice.value else ""
    share = "" if choice.share == CATALOGUE[name].share else f"@{choice.share:g}"
    return f"{name}{value}{share}"
