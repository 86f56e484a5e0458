"""Serves an app on the loopback address until it is interrupted."""

import socket
from typing import Any

from builder.core.errors import BuilderError

LOOPBACK = "127.0.0.1"


def open_port(port: int) -> socket.socket:
    """A socket that only this machine can reach; port 0 takes one that is free.

    Raises:
        BuilderError: The port is taken.
    """
    opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((LOOPBACK, port))
        # The address is printed before the server is up: who comes early waits instead of being refused.
        opened.listen(64)
    except OSError as error:
        opened.close()
        raise BuilderError(
            f"--port {port}", f"cannot be opened ({error.strerror})", "give another, or 0 for any"
        ) from None
    return opened


def serve(app: Any, listening: socket.socket) -> None:
    """Answer requests on `listening` until the process is interrupted."""
    import uvicorn

    config = uvicorn.Config(app, log_level="error", access_log=False, server_header=False, lifespan="off")
    uvicorn.Server(config).run(sockets=[listening])
