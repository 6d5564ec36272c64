"""How commands fail: in one line, on any terminal."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import Any

import typer
from typer.core import TyperGroup

from supple.errors import Error


def _show_what_can_be_shown() -> None:
    """Letters that a terminal has no code for, as in names on an ASCII one, become question marks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


class Commands(TyperGroup):
    """Commands whose expected failures are one line on stderr and exit status 2 (130 after Ctrl-C), never a traceback."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """The program."""
        _show_what_can_be_shown()
        return super().main(*args, **extra)

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
