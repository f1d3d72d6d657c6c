"""HEAD is GET without the body (RFC 9110 section 9.3.2), for every endpoint."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

WITHOUT_BODY = "truerail.head"
"""Key of the scope that tells an endless answer that its body is not read."""


class Head:
    """ASGI middleware: answers HEAD as GET, without the body."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return

        async def without_body(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self.app({**scope, "method": "GET", WITHOUT_BODY: True}, receive, without_body)
