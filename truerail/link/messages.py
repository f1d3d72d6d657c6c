"""The messages between the roles of a service: pollers, the judge, and fronts, as msgpack.

A poller's messages are in an `Envelope`. Between a judge and a front:

    front to judge   Hello, at first         what follows: the events after this number, then everything else
                     Ask, Audit              each is answered by an Answer or a Failed
                     Fetch                   by a View (over NATS)
                     Rest                    by the next Part of a reply that is larger than a message (over NATS)
    judge to front   Event, Alive            (over NATS: a Notice, on which a front fetches the view)

Both ends have one `SCHEMA`: what another one writes is refused, with its name. Times are Unix seconds of the sender's
clock; `truerail.link.inbox` moves them onto the reader's.
"""

from msgspec import Raw, Struct

from truerail.analysis.published import CollectorRun

SCHEMA = 2
"""Changes with each message."""
OBSERVATION, COUNTS, ROUND, BEAT = "obs", "cnt", "round", "beat"

# --- a poller to the judge --------------------------------------------------------------------------------------------


class KindRows(Struct, array_like=True, frozen=True):
    """The facts of one kind in an answer: the class name, and an array of rows."""

    kind: str
    rows: Raw


class Body(Struct, array_like=True, frozen=True):
    """What a poller says."""

    @property
    def kind(self) -> str:
        """Its kind."""
        return str(self.__struct_config__.tag)


class Entry(Struct, array_like=True, frozen=True):
    """One `Reading` without counters."""

    collector: str
    source: str
    error: str
    at: float
    read_at: float
    took_seconds: float
    facts: list[KindRows] = []
    facts_at: float = 0.0
    """When the answer came that the facts were read from, if it was an earlier one; else 0."""
    polled: bool = True


class Observation(Body, array_like=True, frozen=True, tag=OBSERVATION):
    """`obs`: all answers of one device but its counters. Sent when one of them differs from what was sent last."""

    device: str
    entries: list[Entry]


class Slot(Struct, array_like=True, frozen=True):
    """Where a run of counter values belongs: sent once, then named by its place in the order of definition.

    `layouts` has the index of one of the message's lists of names for each of the `ports`.
    """

    device: str
    collector: str
    source: str
    ports: list[str]
    layouts: list[int]


class CountRow(Struct, array_like=True, frozen=True):
    """One reading of counters: the number of its slot, its times, and how far each port lags, if one does."""

    slot: int
    at: float
    read_at: float
    took_seconds: float
    lags: list[float | None] | None = None


class CountGroup(Struct, array_like=True, frozen=True):
    """Rows with the same number of values. `data`: differences to the values sent before, modulo 2**64, counter by
    counter over all rows, the first bytes of all numbers first, then the second ones.
    """

    rows: list[CountRow]
    data: bytes


class Counts(Body, array_like=True, frozen=True, tag=COUNTS):
    """`cnt`: counters of many devices.

    `base` is the number of the sender's `cnt` before, 0 if all slots begin again at zero: differences to a message that
    was not received have no meaning.
    """

    base: int
    layouts: list[list[tuple[str, int | None]]]
    slots: list[Slot]
    groups: list[CountGroup]


class Same(Struct, array_like=True, frozen=True):
    """Devices that answered these collectors the same again, at `read_at`. `numbers` has for each the number of the
    `obs` that still describes it.
    """

    collectors: list[str]
    devices: list[str]
    numbers: list[int]
    read_at: list[float]


class RoundDone(Body, array_like=True, frozen=True, tag=ROUND):
    """`round`: a round has ended, or goes on without its slow devices; and what it found unchanged."""

    at: float
    same: list[Same]
    runs: list[CollectorRun]
    rounds_total: int = 0
    waiting: int = 0


class Beat(Body, array_like=True, frozen=True, tag=BEAT):
    """`beat`: this poller runs. `dropped_total` counters were older than a judge that does not read can get back."""

    devices: int
    dropped_total: int = 0
    problem: str = ""
    """The last thing that went wrong inside, for the log of the judge."""
    differences_total: int = 0
    """Answers that counted as unchanged and had other facts."""
    agents_running: int = 0
    agents_silent: int = 0
    agent_dropped_total: int = 0
    """Messages of agents, and answers in them, that did not count."""
    clock_set_by: float = 0.0
    """Seconds by which the clock of its system was set since it began: its own clock, of all times here, was not."""


class Origin(Struct, array_like=True, frozen=True):
    """The beginning of an envelope, which every version has."""

    schema: int
    zone: str
    poller: str


class Envelope(Origin, array_like=True, frozen=True):
    """Around each message: who sent it, when, and its place in the order.

    `start` is the id of one run of a poller, `number` counts its messages from 1, `epoch` rises with each change of
    the devices that it polls: of two messages on one device that with the higher (epoch, number) is the newer one.
    """

    start: str
    epoch: int
    number: int
    sent_at: float
    body: Observation | Counts | RoundDone | Beat


# --- the judge to a poller --------------------------------------------------------------------------------------------


class Command(Struct, array_like=True, frozen=True):
    """`cmd`: `poll` these devices now, `resend` what is known of them, or `report` when each answer was read. None: all
    devices. To a process of the same service also `work`: what to poll from now on.
    """

    action: str
    devices: list[str] | None = None
    work: bytes = b""


# --- a front to the judge ---------------------------------------------------------------------------------------------


class Hello(Struct, frozen=True, tag=True):
    """The last event that the front has."""

    after: int | None


class Ask(Struct, frozen=True, tag=True):
    """A request that the front has let in, and its caller: what the view does not hold, and every write."""

    method: str
    path: str
    query: str = ""
    headers: list[tuple[str, str]] = []
    caller: dict[str, str] | None = None
    body: bytes = b""


class Audit(Struct, frozen=True, tag=True):
    """A record of the front: a log-in."""

    who: str
    action: str
    detail: str


class Fetch(Struct, frozen=True, tag=True):
    """The last write of the judge's view and the last event that the front has."""

    since: int
    after: int | None


class Rest(Struct, frozen=True, tag=True):
    """The name of a reply, and how much of it the front has."""

    reply: str
    offset: int


Request = Ask | Audit | Fetch | Rest

# --- the judge to a front ---------------------------------------------------------------------------------------------


class Answer(Struct, frozen=True, tag=True):
    """The response to a request."""

    status: int = 204
    headers: list[tuple[str, str]] = []
    body: bytes = b""


class Failed(Struct, frozen=True, tag=True):
    """Why there is no answer, in words."""

    error: str


class Event(Struct, frozen=True, tag=True):
    """`kind` is `state` (everything again), `round`, `mutes`, `steps`, `journal`, `stale` or `stop`; `data` is JSON."""

    id: int
    kind: str
    data: bytes


class Alive(Struct, frozen=True, tag=True):
    """The sign of life of each second. `written` is False while the view lacks an evaluation, `problem` says why;
    `figures` are the judge's own metrics.
    """

    written: bool
    figures: dict[str, float] = {}
    problem: str = ""


class View(Struct, frozen=True, tag=True):
    """What changed in the view, packed and compressed; empty for a view without content. And the events."""

    changes: bytes
    events: list[Event]


Reply = Answer | Failed | View


class Part(Struct, frozen=True):
    """A part of a reply of `size` bytes; `reply` names it for `Rest`."""

    body: bytes
    size: int
    reply: str = ""


class Notice(Struct, frozen=True, kw_only=True):
    """What the view of the judge that leads is now, each second and at each change: the judge, its run, epoch and
    release, the last write of its view and its last event; whether the view has the newest evaluation.
    """

    judge: str
    run: str
    epoch: int
    release: str
    written: int
    event: int
    current: bool
    figures: dict[str, float] = {}
