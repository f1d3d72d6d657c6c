"""Queries NetBox through pynetbox. The only code of inventories that opens a connection; it only reads.

pynetbox makes requests of its own when an absent attribute is touched, so each record becomes a plain mapping at once.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

from truerail.errors import SecretMissingError
from truerail.extras import require
from truerail.inventory.inventory_error import InventoryError, InventoryFaults
from truerail.inventory.netbox_file import NetBox
from truerail.model.names import printable

if TYPE_CHECKING:
    import requests

Row = Mapping[str, Any]
"""One object as NetBox's REST API gives it, nested objects in short form."""
_PAGE = 500
_IDS_IN_ONE_REQUEST = 100
"""`device_id=` this many times keeps the address line under the 4 KB that small servers take."""


class Api:
    """The parts of NetBox that an inventory needs. Raises InventoryError if a query fails."""

    def __init__(self, netbox: NetBox, faults: InventoryFaults) -> None:
        require("netbox", "NetBox")
        import pynetbox

        self._netbox = netbox
        self._faults = faults
        self._token = ""
        try:
            self._token = netbox.token.read()
        except SecretMissingError as error:
            self._fail(f"token: {error}")
        self._api = pynetbox.api(netbox.url, token=self._token)
        self._api.http_session = _session(netbox)

    def devices(self) -> list[Row]:
        """The devices that the file's filter chooses."""
        return self._rows("devices", dict(self._netbox.filter))

    def interfaces(self, devices: Sequence[int]) -> list[Row]:
        """The cabled interfaces of devices by their ids, each with the far end of its path."""
        return self._of_devices("interfaces", devices, {"cabled": "true"})

    def cables(self, devices: Sequence[int]) -> list[Row]:
        """The cables that end at devices: labels, lengths, tags, custom fields. One that ends at two comes once."""
        return list({row["id"]: row for row in self._of_devices("cables", devices, {})}.values())

    def _of_devices(self, what: str, devices: Sequence[int], more: dict[str, str]) -> list[Row]:
        rows: list[Row] = []
        for ids in _chunks(devices):
            rows += self._rows(what, {"device_id": ids, **more})
        return rows

    def _rows(self, what: str, query: Mapping[str, object]) -> list[Row]:
        import pynetbox
        import requests

        try:
            return [dict(record) for record in getattr(self._api.dcim, what).filter(limit=_PAGE, **query)]
        except pynetbox.RequestError as error:
            self._fail(f"{what}: {error.req.status_code} {error.req.reason}: {printable(error.error.strip(), 160)}")
        except pynetbox.ContentError:
            self._fail(f"{what}: the answer is not JSON; is this NetBox's address?")
        except (requests.RequestException, ValueError) as error:
            self._fail(f"{what}: {type(error).__name__}: {printable(str(error))}")

    def _fail(self, summary: str) -> NoReturn:
        clean = summary.replace(self._token, "***") if self._token else summary
        self._faults.add(self._netbox.line, self._netbox.url, f"NetBox: {clean}")
        raise InventoryError(self._faults.found) from None


def _chunks(ids: Sequence[int]) -> Iterator[list[int]]:
    left = iter(ids)
    while chunk := list(islice(left, _IDS_IN_ONE_REQUEST)):
        yield chunk


def _session(netbox: NetBox) -> "requests.Session":
    """A session with a time limit that connects only to this NetBox: `next` links come from the server."""
    import requests

    class OneServer(requests.Session):
        def request(self, method: str, url: str | bytes, **options: Any) -> requests.Response:  # type: ignore[override]  # takes what requests' own takes, by name
            if not str(url).startswith(f"{netbox.url}/"):
                raise requests.exceptions.InvalidURL("a link to another server")
            options.setdefault("timeout", netbox.timeout_seconds)
            return super().request(method, url, **{**options, "allow_redirects": False})

    session = OneServer()
    session.auth = lambda request: request  # otherwise ~/.netrc would replace the token
    return session
