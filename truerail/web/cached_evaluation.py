"""One evaluation as the web shows it, with its answers."""

from functools import cached_property

from truerail.analysis.published import Published
from truerail.model.history import History
from truerail.views.fabric_map import fabric_map
from truerail.views.view import View, view_of
from truerail.web.etag import to_bytes

KEPT_BYTES = 16 << 20
"""Cache of one publication's answers: all open pages send the same requests after a new evaluation."""


class CachedEvaluation:
    """One publication as the web shows it. `serial` differs for every publication, even with the same number, and
    after every restart.
    """

    def __init__(self, publication: Published, serial: str, history: History | None = None) -> None:
        self.publication = publication
        self.serial = serial
        self.history = history
        """What was known before it, of a publication of the past; None: the journal."""
        self._kept: dict[str, bytes] = {}
        self._room = KEPT_BYTES

    @cached_property
    def view(self) -> View:
        """The index over it that every view reads."""
        return view_of(self.publication)

    @cached_property
    def map_body(self) -> bytes:
        """The fabric map as JSON: rendered once, shared by all requests and streams."""
        return to_bytes(fabric_map(self.publication))

    def answer(self, tag: str) -> bytes | None:
        """The cached answer with this tag."""
        return self._kept.get(tag)

    def keep(self, tag: str, body: bytes) -> bytes:
        """Caches an answer; the oldest ones are evicted."""
        self._room += len(self._kept.pop(tag, b"")) - len(body)
        self._kept[tag] = body
        while self._room < 0:
            self._room += len(self._kept.pop(next(iter(self._kept))))
        return body
