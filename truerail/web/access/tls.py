"""TLS for current browsers and Prometheus: 1.2 with forward secrecy and authenticated ciphers, or 1.3
(Mozilla's "intermediate" settings, https://wiki.mozilla.org/Security/Server_Side_TLS).
"""

import ssl
from collections.abc import Callable
from pathlib import Path

from truerail.errors import CertificateError
from truerail.service.logs import logger
from truerail.service.settings import Tls
from truerail.web.access.expiry import end_of, warning

_CIPHERS_1_2 = "ECDHE+AESGCM:ECDHE+CHACHA20"


class Certificates:
    """The certificate in use. `reload` uses a renewed one for new connections. `ends` is when the first certificate of
    its chain expires; None if that is unreadable.
    """

    def __init__(self, tls: Tls) -> None:
        """Raises CertificateError."""
        self._tls = tls
        self.context = _context(tls)
        self.ends = end_of(tls.certificate)

    def reload(self) -> None:
        """Reads the files again. Raises CertificateError, and then keeps the old certificate.

        A separate context tries them first: a chain and a key that do not match would leave the one in use with
        neither.
        """
        _load(_bare(), self._tls)
        _load(self.context, self._tls)
        self.ends = end_of(self._tls.certificate)

    @property
    def warning(self) -> str:
        """The warning about its expiry; empty while there is time."""
        return warning(self._tls.certificate, self.ends)

    def warn(self) -> None:
        """Logs the warning, if any."""
        if said := self.warning:
            logger().warning("certificate ends", certificate=said)


def _context(tls: Tls) -> ssl.SSLContext:
    context = _bare()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(_CIPHERS_1_2)
    context.set_alpn_protocols(["http/1.1"])
    _load(context, tls)
    return context


def _bare() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)


def _load(context: ssl.SSLContext, tls: Tls) -> None:
    for path in (tls.certificate, tls.key):
        _readable(path)
    try:
        context.load_cert_chain(tls.certificate, tls.key, _no_password(tls.key))
    except ssl.SSLError as error:
        raise CertificateError(_reason(tls, error)) from error


def _readable(path: Path) -> None:
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise CertificateError(f"{path}: {error.strerror or error}") from error


def _reason(tls: Tls, error: ssl.SSLError) -> str:
    """OpenSSL reports the error without the file: loading only the chain shows which one."""
    if error.reason == "KEY_VALUES_MISMATCH":
        return f"{tls.key}: is not the key of {tls.certificate}"
    try:
        _bare().load_verify_locations(tls.certificate)
    except ssl.SSLError:
        return f"{tls.certificate}: holds no certificate in PEM"
    return f"{tls.key}: holds no private key in PEM ({error.reason or error})"


def _no_password(key: Path) -> Callable[[], str]:
    def ask() -> str:
        raise CertificateError(f"{key}: is locked with a password; a service cannot be asked for one")

    return ask
