"""Arguments of Streamlit's `App`: routes to scripts, a check of origins, worker processes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from streamlit import get_option

from dplearn.teaching.explorer.kit import questions
from dplearn.teaching.explorer.kit.elements import PAGES, script

NAVIGATION = Path(__file__).parent / "kit" / "navigation.py"
_HEADERS = {"Cache-Control": "public, max-age=31536000, immutable"}


def routes() -> list[BaseRoute]:
    """Return, for each page that JavaScript draws in the browser, the route to its script."""
    # Make a new response for each request, because compression changes its headers.
    reply = lambda text, _: Response(text, media_type="text/javascript", headers=_HEADERS)
    return [Route(f"/{name}", partial(reply, text)) for name, text in map(script, PAGES)]


@asynccontextmanager
async def lifespan(_: Any) -> AsyncIterator[None]:
    """Start the worker processes that compute answers; they end with the server."""
    questions.start_processes()
    yield


def same_origin(app: Any) -> Any:
    """Wrap an ASGI app; if allowed hosts are set, refuse WebSockets from all other origins.

    Streamlit's own check would first ask an internet service for this machine's address.
    """

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        hosts = get_option("server.allowedHosts") or ()
        origin = dict(scope.get("headers", ())).get(b"origin", b"").decode("latin-1")
        known = {None, *hosts}
        if scope["type"] == "websocket" and hosts and urlsplit(origin).hostname not in known:
            await send({"type": "websocket.close", "code": 1008})
        else:
            await app(scope, receive, send)

    return guarded


MIDDLEWARE = [Middleware(same_origin)]
