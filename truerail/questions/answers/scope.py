"""The scope of maintenance by the name of what is worked on."""

from truerail.errors import QueryError
from truerail.files.nodesets import fold
from truerail.questions.answers.resolve import recognise
from truerail.questions.answers.subjects import in_order
from truerail.views.view import View


def scope_of(view: View, what: str) -> tuple[str, str]:
    """The scope (`device`, `rail`, `pod` or `nodes`) and its name in the plan's spelling. A rack, a row and a unit
    become their devices. Raises NotFoundError, and QueryError for what cannot be in maintenance, such as a port.
    """
    meant = recognise(view, what)
    if meant.matched_type in ("rail", "pod"):
        return meant.matched_type, meant.name.partition(" ")[2]
    if meant.devices:
        return "nodes", fold(in_order(view, meant.devices))
    if meant.matched_type in ("host", "switch") and view.is_planned(meant.device):
        return "device", meant.name
    raise QueryError(
        f"{meant.name} is a {meant.matched_type}: maintenance covers devices, racks, rails, pods and node sets"
    )
