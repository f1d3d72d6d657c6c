"""`truerail token`: creates a bearer token and its entry for the settings."""

import json
from enum import StrEnum
from typing import Annotated

import typer

from truerail.cli import terminal_output
from truerail.errors import CommandError

LONGEST_NAME = 64


class TokenRole(StrEnum):
    """The role of a token."""

    READER = "reader"
    OPERATOR = "operator"


def token(
    name: Annotated[str, typer.Argument(help="Name of its user: a person or a program. Written to the audit log.")],
    role: Annotated[TokenRole, typer.Option(help="reader: read only; operator: read and write.")] = TokenRole.READER,
) -> None:
    """Create a token: the token on stdout, once; the line for truerail.yaml, which has only its hash, on stderr."""
    from truerail.model.names import printable
    from truerail.service.token_hashes import new_token, token_hash

    if not 0 < len(name) <= LONGEST_NAME or printable(name) != name:
        raise CommandError(f"a token's name has 1 to {LONGEST_NAME} printable characters, not {name!r}")
    made = new_token()
    terminal_output.say(made)
    words = "It is not stored: copy it now. Add to truerail.yaml, under access: tokens:"
    terminal_output.remark(words, _entry(name, role, token_hash(made)))


def _entry(name: str, role: TokenRole, hashed: str) -> str:
    """One entry of the list `access.tokens`; a JSON string is a YAML string."""
    return f"    - {{name: {json.dumps(name, ensure_ascii=False)}, role: {role}, hash: {json.dumps(hashed)}}}"
