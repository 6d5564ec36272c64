"""What hatchling does besides: a wheel becomes one with machine code if the environment says where that is.

``python packaging/machine_code.py FOLDER`` makes the folder; ``SUPPLE_MACHINE_CODE=FOLDER pip wheel .`` puts it into a wheel
for one Python and one platform. Without the variable the wheel is pure, and runs everywhere.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class MachineCode(BuildHookInterface):
    """Adds machine code to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Before the wheel is written."""
        folder = os.environ.get("SUPPLE_MACHINE_CODE")
        if not folder or self.target_name != "wheel" or version == "editable":
            return
        about = json.loads((Path(folder) / "about.json").read_text())
        build_data["pure_python"] = False
        build_data["tag"] = about["tag"]
        build_data["force_include"][os.path.abspath(folder)] = "supple/kernels/shipped"
