"""What an on-call question declares. Command line, API and page loop over `questions()`; none of them names a question.

Its file is imported when it is asked, not to show `truerail --help`: that reads the index.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import partial
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from truerail.questions.question_index import SHORT

if TYPE_CHECKING:
    from rich.console import RenderableType

    from truerail.analysis.published import Published
    from truerail.history.past_counters import PastCounters
    from truerail.model.history import History
    from truerail.outputs.options import Options

A = TypeVar("A")
Given = Mapping[str, Any]
"""The values of a question's parameters by name; what was not given has its default."""
LONGEST_LIST = 16_384
"""Characters of a list or a text in the API: a URL may be twice as long."""


class Kind(Enum):
    """What a parameter is."""

    NAME = "name"
    """A device, a port, or another name of at most 255 characters."""
    NODES = "nodes"
    """A node set of hosts."""
    TIME = "time"
    """A moment: ISO 8601, `14:00`, `yesterday`, `2h`."""
    LIST = "list"
    """Several texts in one, separated by `;`. On the command line the option is repeated instead."""
    NUMBER = "number"
    FLAG = "flag"
    TEXT = "text"
    """The text of a small file; on the command line the file."""
    CAPTURE = "capture"
    """A capture, on the command line only."""


class Journal(Enum):
    """Whether the answer takes the journal."""

    UNUSED = "unused"
    USED = "used"
    """Where there is one; without it the answer contains less."""
    NEEDED = "needed"
    """Only a service can answer."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. `name` is that of the API; on the command line it is an argument in its place, or `--name`."""

    name: str
    help: str
    """On the command line, and in the API's document."""
    kind: Kind = Kind.NAME
    needed: bool = True
    option: bool = False
    metavar: str | None = None
    default: Any = None
    least: int | None = None
    most: int | None = None
    """For the command line and the API."""
    most_in_api: int | None = None
    label: str = ""
    """On the page; its help, where empty."""
    example: str = ""
    """On the page, in the empty field."""

    @property
    def variable(self) -> str:
        """The name of a variable: `from` is none."""
        return f"{self.name}_" if iskeyword(self.name) else self.name

    @property
    def field_label(self) -> str:
        """What stands over its field on the page."""
        text = self.label or self.help.rstrip(".")
        return text[:1].upper() + text[1:]


Option: Final = partial(Parameter, needed=False, option=True)
"""A parameter that is `--name` on the command line and need not be given."""
RUNNING_JOBS: Final = Option(
    "job",
    help="Running jobs: 'llama=gpu-[001-016]; gpt=gpu-[017-032]', or the option again. "
    "Without any, those of the schedulers.",
    kind=Kind.LIST,
    metavar="NAME=NODES",
    label="Running jobs",
    example="llama=gpu-[001-016]; gpt=gpu-[017-032]",
)
"""Of each question that needs to know what must not be interrupted."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question is asked of."""

    publication: "Published"
    history: "History"
    now: datetime
    counted: "Callable[[datetime], PastCounters | None] | None" = None
    """The counters of a time in the past; None without a history store."""


@dataclass(frozen=True, slots=True)
class Form:
    """A question on the page Ask: heading and button. `page` is the page that has it instead; Ask links to it."""

    heading: str = ""
    button: str = "Ask"
    page: str = ""


@dataclass(frozen=True)
class Question(Generic[A]):
    """A question: its name, parameters, answer (the dataclass is the JSON), description for command, API and page, exit
    status and text.
    """

    name: str
    answer: type[A]
    parameters: tuple[Parameter, ...]
    find: Callable[[Asked, Given], A]
    """The answer. Raises NotFoundError and QueryError."""
    description: str
    good: Callable[[A], bool | None] = lambda answer: None
    """Whether everything in question is known to be as planned: then the command ends with 0, else with 1. None:
    unknown.
    """
    text: Callable[[A, "Options"], Iterator["RenderableType"]] | None = None
    """What follows the summary on a terminal. A question without text has no command."""
    journal: Callable[[Given], Journal] = lambda given: Journal.UNUSED
    misuse: Callable[[Given, bool], str] = lambda given, capture: ""
    """What is wrong with the options of the command together; `capture`: one is named. Empty if nothing is."""
    service_only: bool = False
    """Whether nothing but a service answers it: its command then offers no capture and no inventory."""
    between_rounds: bool = False
    """Whether two rounds of captures answer it where it takes the journal."""
    timed: bool = False
    """Whether the answer also depends on the time: it contains the age of its data."""
    gate: bool = False
    """Whether programs ask it before they act: the status of the answer is 200 if all is good, 409 if it is not and 503
    if that is not known, the exit code 0, 1 and 2.
    """
    operation: str = ""
    """Its name in the API's document, where it is not `the_NAME` with underscores."""
    form: Form = Form()
    """On the page Ask, with the first sentence of `description`; its heading, where empty, is `short`."""

    @property
    def short(self) -> str:
        """What its command answers, in the list of commands."""
        return SHORT[self.name]

    @property
    def heading(self) -> str:
        """Its heading on the page."""
        return self.form.heading or self.short.rstrip(".")

    @property
    def takes_at(self) -> bool:
        """Whether it can be asked about the past (`at`): its answer then has a field `as_of`."""
        return "as_of" in getattr(self.answer, "__dataclass_fields__", ())

    @property
    def fields(self) -> tuple[Parameter, ...]:
        """The parameters that the page has a field for."""
        return tuple(one for one in self.parameters if one.kind is not Kind.CAPTURE)


def all_good(parts: Iterable[bool | None]) -> bool | None:
    """Whether all parts are good; None if nothing is known to be wrong but something is unknown, or without any."""
    known = set(parts)
    return False if False in known else True if known == {True} else None
