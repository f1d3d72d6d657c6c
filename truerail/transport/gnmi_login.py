"""What a gNMI connection needs: the CA's certificates, a client certificate if any, user and password.

There is no way to leave out the check of the device's certificate.
"""

from dataclasses import dataclass, field
from pathlib import Path

from truerail.errors import TransportError
from truerail.model import GnmiAccess
from truerail.transport.protocol import secret_text

_PEM = b"-----BEGIN "


@dataclass(frozen=True, slots=True)
class GnmiLogin:
    """The contents of the files that an inventory refers to, and the password. No repr shows any of them."""

    ca: bytes = field(repr=False)
    certificate: bytes | None = field(repr=False)
    key: bytes | None = field(repr=False)
    user: str
    password: str = field(repr=False)

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """The credentials of each request, as gNMI's specification of authentication has them."""
        return (("username", self.user), ("password", self.password)) if self.user else ()


def gnmi_login(access: GnmiAccess) -> GnmiLogin:
    """Reads files and password. Raises `TransportError` that names the file or the reference, never the content."""
    password = ""
    if access.password is not None:
        password = secret_text(access.password, "gNMI password")
        if not password.isascii() or not password.isprintable():
            raise TransportError("gNMI password: only printable ASCII can be sent as metadata")
    if not access.ca:
        raise TransportError("gNMI needs the CA that signs the devices' certificates, the inventory names none")
    return GnmiLogin(
        _pem("ca", access.ca),
        _pem("certificate", access.certificate) if access.certificate else None,
        _pem("key", access.key) if access.key else None,
        access.user,
        password,
    )


def _pem(use: str, name: str) -> bytes:
    try:
        content = Path(name).expanduser().read_bytes()
    except OSError as error:
        raise TransportError(f"gNMI {use} {name}: {error.strerror}") from None
    if _PEM not in content:
        raise TransportError(f"gNMI {use} {name}: not a PEM file")
    return content
