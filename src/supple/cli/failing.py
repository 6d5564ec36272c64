"""How commands fail: in one line."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from supple.errors import Error


class Commands(TyperGroup):
    """Commands whose expected failures are one line on stderr and exit status 2 (130 after Ctrl-C), never a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command."""
        try:
            return super().invoke(ctx)
        except Error as error:
            _fail(str(error))
        except KeyboardInterrupt as error:
            _fail(str(error) or "interrupted", status=130)
        except OSError as error:
            _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))


def _fail(message: str, status: int = 2) -> None:
    from rich.console import Console
    from rich.text import Text

    lines = [" ".join(line.split()) for line in message.splitlines()]
    Console(stderr=True, soft_wrap=True, highlight=False).print(
        Text(("error: " if status == 2 else "") + "\n  ".join(lines), style="bold red")
    )
    raise typer.Exit(status)
