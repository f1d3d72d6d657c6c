"""What the agents on hosts have answered: who runs, the newest answer to each command, and what is to be asked for.

Messages come on the subject of their host, which the server lets no other host use. An answer counts while its agent
runs and lists it; an agent that is silent for three signs of life counts as none.
"""

import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import msgspec
from msgspec import Struct

from truerail.agent.allowed_commands import command_id, name_token
from truerail.errors import BusMessageError, BusSchemaError
from truerail.link.codec import inflated
from truerail.link.inbox import Clock
from truerail.model import Target
from truerail.model.names import printable
from truerail.model.steady import STEADY
from truerail.poller.agent_package import ANSWER_BYTES, BEAT_SECONDS, PROBE, questions
from truerail.transport.fleet_transport import kind_of
from truerail.transport.framing import first_line, refusal
from truerail.transport.protocol import Answer

# ----------------------------------------------------------------------------------------------------------------------
# The messages of agents, as JSON: the answers as their commands gave them, by zlib and base64.
#
# An agent is believed on its own host alone, which is that of the subject: no message names a device, or a command.
# What it sends is bounded here, before anything of it is held.

SCHEMA = 2
MOST_MESSAGE_BYTES = 4 << 20
MOST_ANSWERS = 2000
"""In one message: no agent has so many commands."""
_LONGEST_COMPLAINT = 400
_SECONDS = (0.0, 1e9)


class Answered(Struct, frozen=True):
    """One answer: the `status` of its command, its compressed text, `why` there is none."""

    id: str
    version: int
    status: int
    why: str
    complaint: str
    took: float
    text: bytes


class RawMessage(Struct, frozen=True):
    """A message. `sent` is in seconds of a clock of the agent that never goes back; `held` has the id, version
    and age of each answer that it has; `more` says that another part follows; `begins` that not every
    question was asked once; `ends` that the agent stops.
    """

    schema: int
    start: str
    number: int
    sent: float
    agent: str = ""
    event: bool = False
    more: bool = False
    begins: bool = False
    ends: bool = False
    held: list[tuple[str, int, float]] = []
    answers: list[Answered] = []


_MESSAGE = msgspec.json.Decoder(RawMessage)


def raw_message(data: bytes) -> RawMessage:
    """Reads a message. Raises BusMessageError, and BusSchemaError for one of another version."""
    if len(data) > MOST_MESSAGE_BYTES:
        raise BusMessageError(f"a message of an agent of {len(data):,} bytes, more than {MOST_MESSAGE_BYTES:,}")
    try:
        message = _MESSAGE.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise BusMessageError(f"not a message of an agent: {error}") from None
    if message.schema != SCHEMA:
        raise BusSchemaError(f"an agent writes schema {message.schema}, this one reads {SCHEMA}: build the agent again")
    if len(message.answers) > MOST_ANSWERS or len(message.held) > MOST_ANSWERS:
        raise BusMessageError(f"a message of an agent with more than {MOST_ANSWERS:,} answers")
    times = [message.sent, *(one.took for one in message.answers), *(age for _, _, age in message.held)]
    if not all(_SECONDS[0] <= one <= _SECONDS[1] for one in times):
        raise BusMessageError("a message of an agent with a time that cannot be")
    if len(message.start) > 64 or any(
        len(one.complaint) + len(one.why) > 2 * _LONGEST_COMPLAINT for one in message.answers
    ):
        raise BusMessageError("a message of an agent with a text that is too long")
    return message


# ----------------------------------------------------------------------------------------------------------------------
# What is known of agents and their answers.

SILENT_SECONDS = 3 * BEAT_SECONDS
MOST_HELD_BYTES = 8 << 20
"""Of one host, compressed."""
MOST_MESSAGES, WITHIN_SECONDS = 100, 10.0
"""Messages of one host in a time: what is beyond is dropped."""
_CLOCK_SECONDS = 300.0
"""The offset of a clock is measured again after this time: clocks drift."""
_AGAIN_SECONDS = 2.0
_NEVER_ASKED = "the agent has not run this command"


@dataclass(slots=True)
class _Held:
    """One answer: `read_at` in Unix seconds of this machine's clock."""

    answer: Answered
    read_at: float


@dataclass(slots=True)
class _Life:
    """One agent, as it is heard."""

    start: str
    clock: Clock
    clock_since: float
    heard: float
    heard_at: datetime
    recent: deque[float]
    """When its last messages came, also those of runs before."""
    number: int = 0
    held: dict[str, _Held] = field(default_factory=dict)
    whole: bool = False
    """Whether all that the agent lists is held, and it has asked every question once."""
    begins: bool = False
    taken: bool = False
    """Whether its answers were reported when they were whole for the first time."""
    asked_at: float = float("-inf")
    running: bool = True


class AgentAnswers:
    """Those of one zone. `ask` sends a word to the agent of a device: `all`, to send all answers; `beat`, to show that
    it runs. `clock` never goes back, `now` gives Unix seconds of a clock that is never set.
    """

    def __init__(
        self,
        ask: Callable[[str, bytes], None],
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = STEADY.seconds,
    ) -> None:
        self._ask, self._clock, self._now = ask, clock, now
        self._names: dict[str, str] = {}
        self._mine: frozenset[str] = frozenset()
        self._lives: dict[str, _Life] = {}
        self._away = False
        self._collector = {command_id(text): one.name for one in questions() for text in one.commands}
        self.counts: Counter[str] = Counter()
        self.problem = ""
        """The last message that was dropped, and why."""

    def devices(self, targets: Iterable[Target]) -> None:
        """Sets the devices of the zone: agents of others are not heard."""
        self._names = {name_token(one.name): one.name for one in targets if kind_of(one) == "hosts"}
        names = set(self._names.values())
        self._lives = {name: life for name, life in self._lives.items() if name in names}

    def keep(self, mine: Collection[str]) -> None:
        """Sets the devices that are asked here; of the others only signs of life are taken."""
        self._mine = frozenset(mine)
        for name, life in self._lives.items():
            if name not in self._mine:
                life.held, life.whole = {}, False

    def find(self) -> None:
        """Asks who runs."""
        for name in self._names.values():
            self._ask(name, b"beat")

    def pause(self) -> None:
        """The bus is away: no agent can be heard."""
        self._away = True

    def resume(self) -> None:
        """The bus is back: each agent has the time to be heard."""
        self._away = False
        for life in self._lives.values():
            life.heard = self._clock()

    # --- what is known ----------------------------------------------------------------------------------------------

    def runs(self, device: str) -> bool:
        """Whether the agent of a device runs."""
        life = self._lives.get(device)
        return life is not None and life.running and self._clock() - life.heard <= SILENT_SECONDS

    def begins(self, device: str) -> bool:
        """Whether the agent of a device has not asked every question yet."""
        life = self._lives.get(device)
        return life is not None and life.begins

    def whole(self, device: str) -> bool:
        """Whether all is here that the agent of a device has answered."""
        life = self._lives.get(device)
        return life is not None and life.whole

    def silent_since(self, device: str) -> datetime | None:
        """When an agent was heard last that has not ended and is silent."""
        life = self._lives.get(device)
        silent = life is not None and life.running and not self._away and not self.runs(device)
        return life.heard_at if life and silent else None

    @property
    def running(self) -> int:
        """Number of agents that run on the devices asked here."""
        return sum(self.runs(name) for name in self._lives.keys() & self._mine)

    @property
    def silent(self) -> int:
        """Number of agents on them that are silent and have not ended."""
        return sum(self.silent_since(name) is not None for name in self._lives.keys() & self._mine)

    def request(self, device: str) -> None:
        """Asks the agent of a device for all answers, if that was not just done."""
        life = self._lives.get(device)
        if life is not None and self._clock() - life.asked_at >= _AGAIN_SECONDS:
            life.asked_at = self._clock()
            self._ask(device, b"all")

    def answers(self, device: str, commands: Sequence[str]) -> list[Answer]:
        """The newest answer to each command; one that the agent has not run counts as refused."""
        held = self._lives[device].held
        return [self._answer(text, held.get(command_id(text))) for text in commands]

    # --- messages ---------------------------------------------------------------------------------------------------

    def take(self, token: str, data: bytes) -> tuple[str, frozenset[str]]:
        """Takes a message of the host with this part of a subject. Returns the device and the collectors whose answers
        are to be read now: all when they are whole for the first time, later those of an event; neither, if there are
        none. Never raises on what a message contains.
        """
        name = self._names.get(token)
        if name is None:
            return self._drop("a host that the inventory does not have in this zone", token)
        life, now = self._lives.get(name), self._clock()
        if life and len(life.recent) == MOST_MESSAGES and now - life.recent[0] < WITHIN_SECONDS:
            return self._drop(f"more than {MOST_MESSAGES} messages within {WITHIN_SECONDS:g} s", name)
        if life:
            life.recent.append(now)
        if life and name not in self._mine and life.running:
            life.heard, life.heard_at, life.whole = now, datetime.now(UTC), False
            return "", frozenset()
        try:
            message = raw_message(data)
        except BusMessageError as error:
            return self._drop(str(error), name)
        return self._take(name, message)

    def _take(self, name: str, message: RawMessage) -> tuple[str, frozenset[str]]:
        life, now = self._lives.get(name), self._clock()
        if life is None or life.start != message.start:
            recent = life.recent if life else deque([now], MOST_MESSAGES)
            life = self._lives[name] = _Life(message.start, Clock(), now, now, datetime.now(UTC), recent)
        if message.number <= life.number:
            return self._drop("a message that came twice", name)
        life.number, life.heard, life.heard_at, life.running = message.number, now, datetime.now(UTC), not message.ends
        if now - life.clock_since > _CLOCK_SECONDS:
            life.clock, life.clock_since = Clock(), now
        arrived = self._now()
        life.clock.heard(message.sent, arrived)
        if name not in self._mine:
            return "", frozenset()
        sent_at = min(message.sent + life.clock.offset_seconds, arrived)
        changed = self._hold(name, life, message, sent_at)
        if life.whole and not life.taken:
            life.taken = True
            return name, frozenset(self._collector[one] for one in life.held) - {PROBE}
        return (name, changed) if message.event and changed else ("", frozenset())

    def _hold(self, name: str, life: _Life, message: RawMessage, sent_at: float) -> frozenset[str]:
        """Holds the answers of a message. Returns the collectors that they are for."""
        changed = set()
        for answered in message.answers:
            collector = self._collector.get(answered.id)
            if collector is None:
                self._drop("an answer to a command that no collector declares", name)
                continue
            life.held[answered.id] = _Held(answered, sent_at)
            changed.add(collector)
        listed = {one: (version, age) for one, version, age in message.held if one in self._collector}
        if not message.more:
            life.held = {one: held for one, held in life.held.items() if one in listed}
        for one, (version, age) in listed.items():
            held = life.held.get(one)
            if held is not None and held.answer.version == version:
                held.read_at = sent_at - age
        if sum(len(held.answer.text) for held in life.held.values()) > MOST_HELD_BYTES:
            life.held = {}
            self._drop(f"more than {MOST_HELD_BYTES:,} bytes of answers", name)
        there = all(
            one in life.held and life.held[one].answer.version == version for one, (version, _) in listed.items()
        )
        life.begins, life.whole = message.begins, there and not message.more and not message.begins
        if not there and not message.more:
            self.request(name)
        return frozenset(changed - {PROBE})

    def _answer(self, command: str, held: _Held | None) -> Answer:
        if held is None:
            return Answer(command, error=_NEVER_ASKED, refused=True)
        answer, at = held.answer, held.read_at
        if answer.why:
            return Answer(command, error=printable(answer.why, 160), took_seconds=answer.took, read_at=at)
        try:
            text = inflated(answer.text, ANSWER_BYTES, "its answer").decode(errors="replace")
        except BusMessageError as error:
            return Answer(command, error=str(error), read_at=at)
        why = refusal(min(max(answer.status, 0), 255), first_line(answer.complaint.encode()))
        return Answer(command, text, why, answer.took, bool(why), at)

    def _drop(self, why: str, of: str) -> tuple[str, frozenset[str]]:
        self.counts["dropped_total"] += 1
        self.problem = f"agent of {printable(of, 64)}: {why}"
        return "", frozenset()
