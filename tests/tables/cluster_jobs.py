"""Jobs for archives that go wrong in every way, in a module that workers can import."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from supple.basics.values import Value
from supple.basics.writing import write_file
from supple.cluster import Told


@dataclass(frozen=True, eq=False, repr=False)
class Doubled(Value):
    """Writes a text twice; what the text says may kill the process, once or always, raise, or take its time."""

    ending: str = ".out"
    note: str = ""  # a folder in which it is noted that a file was begun
    pause: float = 0.0

    def __call__(self, source: Path, target: Path) -> Told:
        """Do what the text says."""
        text = source.read_text()
        begun = Path(self.note or source.parent) / f"{source.stem}.{os.getpid()}.begun"
        before = len(list(begun.parent.glob(f"{source.stem}.*.begun")))
        begun.touch()
        if text == "kill" or (text == "kill once" and not before):
            os.kill(os.getpid(), signal.SIGKILL)
        if text == "raise":
            raise RuntimeError("this file is poisonous")
        time.sleep(self.pause)
        write_file(target, text * 2)
        return Told(text != "doubt", "" if text != "doubt" else "Nobody believes this.", {"letters": len(text)})
