"""The page's server: viser's, behind a guard that looks at every request first.

By default it listens on the loopback address only. Even there any web page that is open in the same browser could call, so a
request must name this host, and one that comes from a page must come from ours. On another address every request also needs the
token of the link, once: a cookie remembers it. What is sent to us is bounded.
"""

from __future__ import annotations

import contextlib
import http
import io
import secrets
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

from supple.errors import BadValue, MissingExtra

PORT = 8080
LOOPBACK = "127.0.0.1"
LARGEST = 16 * 2**20  # bytes of one message
UPLOAD = 64 * 2**20  # bytes of one file
UPLOADS = 4  # files at a time
COOKIE = "supple_token"


class Guard:
    """Which requests are answered."""

    def __init__(self, address: str) -> None:
        self.address, self.port = address, 0
        self.token = None if is_loopback(address) else secrets.token_urlsafe(24)

    @property
    def link(self) -> str:
        """What to open in a browser."""
        host = f"[{self.address}]" if ":" in self.address else self.address
        query = "" if self.token is None else f"/?token={self.token}"
        return f"http://{host}:{self.port}{query}"

    def refusal(self, path: str, headers: Any) -> tuple[int, dict[str, str], str] | None:
        """Nothing for a request that may pass; else a status, headers and a sentence."""
        host = headers.get("Host", "")
        if self.token is None and not is_loopback(_name(host)):
            return 403, {}, "This page is only for this computer."
        origin = headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return 403, {}, "A page from elsewhere may not use this one."
        if self.token is None or self._has_token(headers.get("Cookie", "")):
            return None
        given = parse_qs(urlsplit(path).query).get("token", [""])[0]
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            return 403, {}, "Open the link that supple has printed: it holds a token."
        cookie = f"{COOKIE}={self.token}; HttpOnly; SameSite=Strict; Path=/"
        return 302, {"Location": "/", "Set-Cookie": cookie}, ""

    def _has_token(self, cookies: str) -> bool:
        assert self.token is not None
        pairs = (part.strip().partition("=") for part in cookies.split(";"))
        return any(
            name == COOKIE and secrets.compare_digest(value.encode(), self.token.encode()) for name, _, value in pairs
        )


def is_loopback(host: str) -> bool:
    """Whether a host's name means this computer."""
    return host.lower() in ("localhost", "::1", "[::1]") or host.startswith("127.")


def _name(host: str) -> str:
    """A Host header without its port."""
    return host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() and not host.endswith("]") else host


def start(address: str = LOOPBACK, port: int = PORT, label: str = "supple") -> tuple[Any, Guard]:
    """A viser server behind a guard; if the port is taken, the next one that is free."""
    try:
        import viser
    except ImportError as error:
        raise MissingExtra("viser", "view", "the posing page") from error
    if not 0 <= port < 65536:
        raise BadValue(f"a port is a number below 65536, not {port}")
    guard = Guard(address)
    with _guarded(guard), contextlib.redirect_stdout(io.StringIO()):
        server = viser.ViserServer(host=address, port=port, label=label, verbose=False)
    guard.port = server.get_port()
    _bound_uploads(server)
    return server, guard


@contextlib.contextmanager
def _guarded(guard: Guard) -> Iterator[None]:
    """Servers of websockets that are started meanwhile ask the guard first; viser has no door for that."""
    import websockets.asyncio.server as module
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    serve = module.serve

    def serve_guarded(
        handler: Any, host: Any, port: Any, *, process_request: Any, max_size: Any, **options: Any
    ) -> Any:
        def process(connection: Any, request: Any) -> Any:
            refused = guard.refusal(request.path, request.headers)
            if refused is None:
                return process_request(connection, request)
            status, headers, text = refused
            kind = {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(text.encode()))}
            return Response(status, http.HTTPStatus(status).phrase, Headers(**kind, **headers), text.encode())

        return serve(handler, host, port, process_request=process, max_size=min(max_size, LARGEST), **options)

    module.serve = serve_guarded  # pyright: ignore[reportPrivateImportUsage]
    try:
        yield
    finally:
        module.serve = serve


def _bound_uploads(server: Any) -> None:
    """Forget uploads that are or become too large, and all but a few at a time."""
    from viser import _messages as messages

    running = server.gui._current_file_upload_states

    def begun(_: int, message: Any) -> None:
        if message.size_bytes > UPLOAD or message.part_count > UPLOAD // 1024 or len(running) > UPLOADS:
            running.pop(message.transfer_uuid, None)

    def went_on(_: int, message: Any) -> None:
        if message.transfer_uuid in running and running[message.transfer_uuid]["transferred_bytes"] > UPLOAD:
            running.pop(message.transfer_uuid, None)

    server._websock_server.register_handler(messages.FileTransferStartUpload, begun)
    server._websock_server.register_handler(messages.FileTransferPart, went_on)
