"""Lets go of what was shown before.

What a judgement is made of keeps what was derived from it (`wiring_of`, `view_of`), and the derived refers back:
circles that only the garbage collector would undo. It is kept from walking what lives long (a walk over a whole fabric
holds every reader for a second), so the circles are cut by hand, as soon as nobody shows the publication any more. A
reader who still holds it derives anew what it needs.
"""

from dataclasses import fields
from typing import Any

from truerail.model.publication import Publication


def retire(publication: Publication) -> None:
    """Forgets everything that was derived from a publication. The plan is left alone: the next one shares it."""
    wirings = publication.snapshot.__dict__.get("_wirings", {})
    for _, wiring in list(wirings.values()):
        telemetry = wiring.__dict__.get("_telemetry")
        if telemetry is not None:
            _bare(telemetry)
        _bare(wiring)
    for value in (publication.snapshot, publication.judgement, publication):
        _bare(value)


def _bare(value: Any) -> None:
    """Leaves of a value only what it was made of."""
    own = {field.name for field in fields(value)}
    for name in [name for name in vars(value) if name not in own]:
        value.__dict__.pop(name, None)
