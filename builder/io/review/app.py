"""The routes of the review page and the guards before them: this machine, this address, this token, this page only."""

import hmac
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from builder.core.errors import BuilderError
from builder.core.rows import Row

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
TOKEN_HEADER = "x-review-token"
MAX_BODY = 1 << 20
"""Bytes of the longest request that is read."""

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'none'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Desk:
    """What the page can ask for; every function takes and gives plain JSON values.

    Attributes:
        queue: The items of this pass in order, with what was decided, and the choices.
        show: One item by id, under its own labels or under given ones; None when it is unknown.
        decide: Keeps a decision, or raises with every rule that it breaks.
        undo: Takes the last decision of this pass back; its item's id, "" when there is none.
    """

    queue: Callable[[], Row]
    show: Callable[[str, Row | None], Row | None]
    decide: Callable[[Row], Row]
    undo: Callable[[], Row]


Endpoint = Callable[[Request], Awaitable[Response]]


def make_app(desk: Desk, token: str, hosts: frozenset[str]) -> Starlette:
    """The app that serves `desk` to whoever knows `token` and asks for one of `hosts` ("127.0.0.1:8123")."""

    def guarded(endpoint: Endpoint, needs_token: bool = True) -> Endpoint:
        async def serve(request: Request) -> Response:
            refusal = _refusal(request, hosts, token if needs_token else None)
            try:
                response = refusal or await endpoint(request)
            except BuilderError as error:
                problems = [str(problem) for problem in error.problems] or [str(error)]
                response = JSONResponse({"problems": problems}, 422)
            response.headers.update(HEADERS)
            return response

        return serve

    pages = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True)
    page = pages.get_template("review.html").render()
    every = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    return Starlette(
        routes=[
            Route("/", guarded(_fixed(page.encode(), "text/html")), methods=["GET"]),
            Route("/review.js", guarded(_asset("review.js", "text/javascript"), False), methods=["GET"]),
            Route("/review.css", guarded(_asset("review.css", "text/css"), False), methods=["GET"]),
            *(
                Route(f"/api/{name}", guarded(endpoint), methods=[method])
                for (method, name), endpoint in _endpoints(desk).items()
            ),
            Route("/{path:path}", guarded(_nothing), methods=every),
        ]
    )


def _endpoints(desk: Desk) -> dict[tuple[str, str], Endpoint]:
    """What holds data, by method and name."""

    async def queue(_: Request) -> Response:
        return JSONResponse(desk.queue())

    async def item(request: Request) -> Response:
        return _shown(desk.show(request.path_params["id"], None))

    async def check(request: Request) -> Response:
        body = await _body(request)
        return _shown(desk.show(str(body.get("id", "")), _labels(body)))

    async def decide(request: Request) -> Response:
        return JSONResponse(desk.decide(await _body(request)))

    async def undo(_: Request) -> Response:
        return JSONResponse(desk.undo())

    return {
        ("GET", "queue"): queue,
        ("GET", "item/{id}"): item,
        ("POST", "check"): check,
        ("POST", "decide"): decide,
        ("POST", "undo"): undo,
    }


def _asset(name: str, kind: str) -> Endpoint:
    return _fixed((TEMPLATES / name).read_bytes(), kind)


def _fixed(content: bytes, kind: str) -> Endpoint:
    async def serve(_: Request) -> Response:
        return Response(content, media_type=kind)

    return serve


async def _nothing(_: Request) -> Response:
    return PlainTextResponse("not found", 404)


def _refusal(request: Request, hosts: frozenset[str], token: str | None) -> Response | None:
    """Why this request is not answered; None when it may be.

    Host: a name that resolves to this machine but is not in `hosts` is another site's (DNS rebinding). Origin and
    Sec-Fetch-Site: a page of another origin may send requests, whose headers it cannot forge. The token is never in
    a cookie, since browsers send cookies to every port of a host.
    """
    host = request.headers.get("host", "")
    if host not in hosts:
        return PlainTextResponse("wrong host", 403)
    origin = request.headers.get("origin")
    if origin is not None and origin != f"http://{host}":
        return PlainTextResponse("wrong origin", 403)
    if request.method != "GET" and origin is None:
        return PlainTextResponse("no origin", 403)
    opens_page = request.url.path == "/" and request.headers.get("sec-fetch-mode", "navigate") == "navigate"
    if not opens_page and request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return PlainTextResponse("wrong site", 403)
    if token is not None:
        # The page itself is opened by its address; all that holds data asks for the header.
        given = request.query_params.get("token", "") if opens_page else ""
        given = request.headers.get(TOKEN_HEADER, given)
        if not hmac.compare_digest(given.encode(), token.encode()):
            return PlainTextResponse("wrong token; open the address that the command printed", 403)
    return None


async def _body(request: Request) -> dict[str, Any]:
    """The JSON object that was sent.

    Raises:
        BuilderError: It is no JSON object, or too long.
    """
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise BuilderError("request", "is not application/json", "send JSON")
    data = b""
    async for chunk in request.stream():
        data += chunk
        if len(data) > MAX_BODY:
            raise BuilderError("request", f"is longer than {MAX_BODY} bytes", "send one decision")
    import orjson

    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise BuilderError("request", f"is not JSON ({error})", "send JSON") from None
    if not isinstance(value, dict):
        raise BuilderError("request", "is no JSON object", "send one object")
    return value


def _labels(body: dict[str, Any]) -> Row:
    labels = body.get("labels")
    if not isinstance(labels, dict):
        raise BuilderError("request", "has no labels", "send the item's labels whole")
    return labels


def _shown(view: Row | None) -> Response:
    return JSONResponse({"problems": ["no such item"]}, 404) if view is None else JSONResponse(view)
