"""The credentials for an SNMP agent: a community, or a user with passwords, which no repr or error shows."""

from dataclasses import dataclass, field

from truerail.errors import SecretMissingError, TransportError
from truerail.model import Secret, SnmpAccess

AUTH_PROTOCOLS = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")
PRIVACY_PROTOCOLS = ("des", "aes128", "aes192", "aes256")
_SHORTEST = 8  # RFC 3414 section 11.2: passwords have at least 8 characters


@dataclass(frozen=True, slots=True)
class Login:
    """SNMP v2c with a community; v3 with a user, whose `auth` and `privacy` are passwords, empty where not used."""

    version: str
    community: str = field(default="", repr=False)
    user: str = ""
    auth_protocol: str = ""
    auth: str = field(default="", repr=False)
    privacy_protocol: str = ""
    privacy: str = field(default="", repr=False)


def login(access: SnmpAccess) -> Login:
    """The login that an inventory refers to. Raises `TransportError` where it is incomplete or unknown.

    MD5, SHA-1 and DES are used only where the inventory names them.
    """
    if access.version == "2c":
        if access.community is None:
            raise TransportError("SNMP v2c needs a community, the inventory refers to none")
        return Login("2c", community=_secret("community", access.community))
    if access.version != "3":
        raise TransportError(f"SNMP version {access.version!r} is not supported: 2c or 3")
    return _user(access)


def _user(access: SnmpAccess) -> Login:
    if not access.user:
        raise TransportError("SNMP v3 needs a user, the inventory names none")
    if access.privacy and not access.auth:
        raise TransportError("SNMP v3 has no privacy without authentication: the inventory refers to no auth password")
    auth = _password("auth", access.auth, access.auth_protocol, AUTH_PROTOCOLS)
    privacy = _password("privacy", access.privacy, access.privacy_protocol, PRIVACY_PROTOCOLS)
    return Login(
        "3",
        user=access.user,
        auth_protocol=access.auth_protocol if auth else "",
        auth=auth,
        privacy_protocol=access.privacy_protocol if privacy else "",
        privacy=privacy,
    )


def _password(use: str, secret: Secret | None, protocol: str, known: tuple[str, ...]) -> str:
    if secret is None:
        return ""
    if protocol not in known:
        raise TransportError(f"SNMP v3 {use} protocol {protocol!r} is not known: {', '.join(known)}")
    password = _secret(f"{use} password", secret)
    if len(password) < _SHORTEST:
        raise TransportError(f"the SNMP v3 {use} password is shorter than {_SHORTEST} characters")
    return password


def _secret(use: str, secret: Secret) -> str:
    try:
        return secret.read()
    except SecretMissingError as missing:
        raise TransportError(f"SNMP {use}: {missing}") from None
