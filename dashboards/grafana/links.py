"""Links between boards, which keep what is chosen and the time shown, and from a board to truerail's own page."""

from typing import Final, TypedDict

from grafana_foundation_sdk.builders.dashboard import DashboardLink
from grafana_foundation_sdk.models.dashboard import DashboardLinkType

TAG: Final = "truerail"


class Link(TypedDict):
    """A link on a value, as Grafana keeps it in a field's configuration."""

    title: str
    url: str
    targetBlank: bool


def uid(name: str) -> str:
    """The fixed identity of a board by its name."""
    return f"truerail-{name}"


def bar(page: str) -> list[DashboardLink]:
    """The links above every board: all boards, and `page` of truerail (a path such as `/storm`)."""
    boards = DashboardLink("truerail").type(DashboardLinkType.DASHBOARDS).tags([TAG]).include_vars(True).keep_time(True)
    own = DashboardLink("truerail's page").type(DashboardLinkType.LINK).url(f"${{truerail:raw}}{page}")
    return [
        boards.tooltip("The other boards, with what is chosen here").icon("external link"),
        own.tooltip("The same in truerail itself: causes, evidence, repair").icon("bolt").target_blank(True),
    ]


def to_board(title: str, name: str, **chosen: str) -> Link:
    """To another board in the same fabric and time, with `chosen` variables set, by `of_field` or `of_label`."""
    kept = [f"${{{variable}:queryparam}}" for variable in ("datasource", "fabric")]
    asked = "&".join([*kept, *(f"var-{key}={value}" for key, value in chosen.items()), "${__url_time_range}"])
    return Link(title=title, url=f"/d/{uid(name)}?{asked}", targetBlank=False)


def to_page(title: str, path: str) -> Link:
    """To a path of truerail's page, such as `/hosts/` and `of_field("host")`."""
    return Link(title=title, url=f"${{truerail:raw}}{path}", targetBlank=True)


def of_field(column: str) -> str:
    """The value of a column in the row that the reader clicks on, fit for an address."""
    return f"${{__data.fields.{column}:percentencode}}"


def of_label(label: str) -> str:
    """The label of the series that the reader clicks on, fit for an address."""
    return f"${{__field.labels.{label}:percentencode}}"


HOST: Final = (
    to_page("Host in truerail", f"/hosts/{of_field('host')}"),
    to_board("Host board", "host", host=of_field("host")),
)
"""Links of a table's column `host`."""
SWITCH: Final = (
    to_page("Switch in truerail", f"/switches/{of_field('switch')}"),
    to_board("Switch board", "switch", switch=of_field("switch")),
)
"""Links of a table's column `switch`."""
HOST_SERIES: Final = (
    to_page("Host in truerail", f"/hosts/{of_label('host')}"),
    to_board("Host board", "host", host=of_label("host")),
)
"""Links of a series with the label `host`."""
SWITCH_SERIES: Final = (
    to_page("Switch in truerail", f"/switches/{of_label('switch')}"),
    to_board("Switch board", "switch", switch=of_label("switch")),
)
"""Links of a series with the label `switch`."""
