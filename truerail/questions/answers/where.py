"""`where PORT`: the full path of a cable from GPU to uplinks, by the name of any part."""

from collections import Counter

from truerail.analysis.published import Published
from truerail.model.history import History, NoHistory
from truerail.model.names import printable
from truerail.outputs.report_words import count
from truerail.questions.answers.resolve import ResolvedTarget, recognise
from truerail.questions.where import Where
from truerail.views.lines import cable_paths
from truerail.views.pieces import CablePath
from truerail.views.view import View, view_of

_BY = {"both ends": "both ends", "one end": "one end", "device only": "one end, without the port's name"}


def where(publication: Published, text: str, history: History | None = None) -> Where:
    """The paths of what `text` names: a host's NIC or a leaf's port in any spelling (`gpu-012/enp26s0f0np0`,
    `gpu-012:mlx5_3`, `leaf-3/swp12`), a GPU (`gpu-012:gpu3`, `gpu-012 GPU 3`), a MAC address, a cable's label, a host
    or a switch (all its cables).

    For a switch port with another cable than planned, the planned path comes first, then that of the actual cable.
    Raises `NotFoundError`.
    """
    view = view_of(publication)
    meant = recognise(view, text)
    paths = cable_paths(view, meant.cables, history or NoHistory())
    return Where(
        printable(text.strip()), meant.matched_type, paths, f"{_says(meant, paths)}{_names_alone(view, paths)}"
    )


def _names_alone(view: View, paths: tuple[CablePath, ...]) -> str:
    """A warning for a cable where only a name is wrong, to read before moving it."""
    names = {cause.key for cause in view.evaluated.evaluation.causes if cause.names_only}
    causes = {cause.key for path in paths for cause in path.causes}
    return "; only names are wrong, no cable to move" if len(paths) == 1 and causes and causes <= names else ""


def _says(meant: ResolvedTarget, paths: tuple[CablePath, ...]) -> str:
    """One sentence for one cable, or one with counts for several."""
    note = f"; {meant.note}" if meant.note else ""
    if not paths:
        return f"{meant.name}: {meant.note or 'the plan has no cable there'}"
    if len(paths) == 1:
        return f"{meant.name}: {_one(paths[0])}{note}"
    states = Counter(path.state for path in paths)
    reported = ", ".join(f"{states[word]} {word}" for word in ("right", "wrong", "missing", "unknown") if states[word])
    return f"{meant.name}: {count(len(paths), 'cable')}, {reported}{note}"


def _one(path: CablePath) -> str:
    rail = "no rail" if path.rail is None else f"rail {path.rail}"
    plane = "" if path.plane is None else f" plane {path.plane}"
    confirmed = f", confirmed by {_BY[path.verified]}" if path.verified in _BY else ""
    if path.verified == "other sources":
        confirmed = f", confirmed by {' and '.join(path.witnesses)}"
    return f"{rail}{plane}, {path.a.name} to {path.planned.name}, is {path.state}: {path.why}{confirmed}"
