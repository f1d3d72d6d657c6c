"""`truerail mcp`: answers an assistant that speaks the Model Context Protocol, over standard input and output."""

from pathlib import Path
from typing import Any

from truerail.cli.oncall import LOCAL_SERVICE, Service, TokenFile


def mcp(service: Service = LOCAL_SERVICE, token_file: TokenFile = None) -> None:
    """Answer an assistant's questions over the Model Context Protocol: what is wrong, why, where. Read-only.

    The assistant starts it: `truerail mcp --service URL --token-file FILE`, with a reader's token. Needs truerail[mcp].
    """
    from truerail.cli.oncall_service import fetched
    from truerail.extras import require

    require("mcp", "truerail mcp")
    from truerail.cli.assistant_tools import server_of

    def ask(route: str, **given: str | None) -> Any:
        stale: list[str] = []
        answer = fetched(service, route, given, Path(token_file) if token_file else None, stale.append)
        return {"stale": stale[0], **answer} if stale else answer

    server_of(ask).run()
