"""Values of `truerail.yaml` that several of its parts have: durations, secrets, addresses."""

from datetime import timedelta
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, WithJsonSchema

from truerail.files.yaml_keys import SECRET, YES, matching
from truerail.model import Secret
from truerail.service.durations import duration

Duration = Annotated[
    timedelta,
    BeforeValidator(duration),
    WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0}, matching(r"^\s*\d+(\.\d+)?\s*[smhdw]?\s*$")]}),
]
"""`90`, `90s`, `5m`, `2h`, `30d`."""


def at_least(least: timedelta, why: str) -> AfterValidator:
    """Refuses a shorter duration, and says why."""

    def checked(value: timedelta) -> timedelta:
        if value < least:
            raise ValueError(why)
        return value

    return AfterValidator(checked)


class Part(BaseModel):
    """A section of the settings: no other keys, unchangeable."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True, use_attribute_docstrings=True)


def secret(value: object) -> object:
    """A reference to a secret; None for none. Raises ValueError, which does not repeat the value."""
    if isinstance(value, Secret) or value is None:
        return value
    if isinstance(value, dict) and len(value) == 1:
        source, name = next(iter(value.items()))
        if source in ("env", "file", "credential") and isinstance(name, str):
            return Secret(source, name)
    raise ValueError("a secret is {env: NAME}, {file: PATH} or {credential: NAME}")


def _web_address(value: str) -> str:
    """A URL without a trailing slash; empty for none. Raises ValueError, without a password that the value may have."""
    if not value:
        return value
    try:
        url = urlsplit(value)
        port = url.port
    except ValueError as error:
        raise ValueError("is not a URL such as https://truerail.example.net") from error
    if "@" in url.netloc:
        raise ValueError("has a user or password: write the URL without them")
    odd = any(letter.isspace() or not letter.isprintable() for letter in value) or url.query or url.fragment
    if odd or url.scheme not in ("http", "https") or not url.hostname or port == 0:
        raise ValueError(f"{value!r} is not a URL such as https://truerail.example.net")
    return value.rstrip("/")


SecretRef = Annotated[Secret, BeforeValidator(secret), WithJsonSchema({**SECRET})]
YesNo = Annotated[bool, WithJsonSchema({**YES})]
WebAddress = Annotated[str, AfterValidator(_web_address)]
"""`https://HOST` or `http://HOST`, with a port and a path where there is one; no credentials, query or blanks."""
