"""The cases: a fabric, its faults and how well its switches answer, drawn from a seed."""

from dataclasses import dataclass
from random import Random

from benchmarks.probe.fabrics import SHAPES, Hop, Shape, fabric
from truerail.model import Role

SILENT, GREY, POLARIZED, POLARIZED_POD, IDLE = "silent link", "lossy link", "polarized", "polarized pod", "idle member"
CUT, REPORTED_CUT, REWRITTEN, CLEAN = "large packets lost", "large packets refused", "class rewritten", "clean"
RATES = (0.01, 0.02, 0.05, 0.2)
ONE = (SILENT, GREY, POLARIZED, POLARIZED_POD, IDLE, CUT, REPORTED_CUT, REWRITTEN)
TWO = (
    (SILENT, SILENT),
    (GREY, GREY),
    (SILENT, GREY),
    (SILENT, IDLE),
    (GREY, IDLE),
    (GREY, POLARIZED),
    (SILENT, POLARIZED),
    (CUT, GREY),
    (REWRITTEN, SILENT),
    (CUT, REWRITTEN),
)
PACED, LIMITED, HALF_MUTE = "paced", "limited", "one switch mute"
HASHES = ("remainder", "range")
CLEAN_SHARE, TWO_SHARE = 0.25, 0.3


@dataclass(frozen=True)
class Fault:
    """One fault. `link` is where, for those of links, `device` for those of switches or pods."""

    kind: str
    link: Hop | None = None
    device: str = ""
    rate: float = 1.0


@dataclass(frozen=True)
class Trial:
    """One case. `answers` is how switches limit ICMP; `mute` never answers at all."""

    seed: int
    shape: Shape
    faults: tuple[Fault, ...]
    answers: str
    mute: str
    hash: str

    @property
    def kind(self) -> str:
        """The faults in words."""
        return " + ".join(fault.kind for fault in self.faults) or CLEAN


def draw(seed: int) -> Trial:
    """The case of a seed: the same seed gives the same case."""
    rng = Random(f"probe {seed}")  # noqa: S311 - reproducible is what is wanted, not secret
    shape = rng.choice(SHAPES)
    share = rng.random()
    if share < CLEAN_SHARE:
        kinds: tuple[str, ...] = ()
    elif share < CLEAN_SHARE + TWO_SHARE:
        kinds = rng.choice(TWO)
    else:
        kinds = (rng.choice(ONE),)
    if not shape.cores and any(kind in (POLARIZED, POLARIZED_POD) for kind in kinds):
        shape = rng.choice([one for one in SHAPES if one.cores])
    faults: list[Fault] = []
    for kind in kinds:
        faults.append(_fault(rng, shape, kind, faults))
    made = fabric(shape)
    answers = rng.choices((PACED, LIMITED, HALF_MUTE), (0.7, 0.15, 0.15))[0]
    mute = rng.choice(sorted(made.out)) if answers == HALF_MUTE else ""
    return Trial(seed, shape, tuple(faults), answers, mute, rng.choice(HASHES))


def _fault(rng: Random, shape: Shape, kind: str, others: list[Fault]) -> Fault:
    made = fabric(shape)
    taken = [other.link for other in others if other.link is not None]
    links = [hop for hop in made.links() if all(hop[0] != one[0] for one in taken)]
    link = rng.choice(links)
    if kind == GREY:
        return Fault(kind, link, rate=rng.choice(RATES))
    if kind == POLARIZED_POD:
        return Fault(kind, device=str(rng.randrange(shape.pods)))
    if kind == REWRITTEN:
        return Fault(kind, device=rng.choice(sorted(made.out)))
    if kind == IDLE:
        role = made.plan.role_of
        lower = [hop for hop in links if _choice(made.out[hop[1]], hop, up=role(hop[1]) is not Role.SUPERSPINE)]
        return Fault(kind, rng.choice(lower))
    return Fault(kind) if kind == POLARIZED else Fault(kind, link)


def _choice(out: list[Hop], hop: Hop, *, up: bool) -> bool:
    """Whether a link leads upwards from a switch with several uplinks."""
    rank = {"l": 1, "s": 2, "c": 3}
    above = [one for one in out if rank[one[2][0]] > rank[one[1][0]]]
    return up and hop in above and len(above) > 1
