"""Subjects beside OpenSim's ScaleTool: the same generic model, static trial and markers.

Run ``OMP_NUM_THREADS=1 python benchmarks/subjects_scaletool.py SETUP.xml=GENERIC.osim…``: set-up files of the ScaleTool with
their generic models, such as those of the repository opensim-models. For each: how much longer thighs and shanks are than the
generic ones, from joint to joint, in the tool's subject and in that of `supple.fit_subject`; the residual of the static trial
on either, by `supple.track`; processor seconds. Both begin from the generic model with the set-up's markers; the fit is told
nothing of the measurements that the set-up lists.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np

import supple

BONES = {"thigh": ("femur", "tibia"), "shank": ("tibia", "talus")}


def tool(setup: Path, model: Path, folder: Path) -> tuple[Path, Path, Path, float]:
    """The tool's subject, the generic model with its markers, the static trial, and the seconds that the tool took."""
    import opensim

    opensim.Logger.setLevelString("Off")
    for beside in setup.parent.parent.iterdir():  # which set-up files speak of
        if beside != setup.parent:
            (folder / beside.name).symlink_to(beside)
    folder /= setup.parent.name
    shutil.copytree(setup.parent, folder)
    shutil.copy(model, folder / model.name)
    os.chdir(folder)
    made = opensim.ScaleTool(setup.name)
    maker, placer, scaler = made.getGenericModelMaker(), made.getMarkerPlacer(), made.getModelScaler()
    maker.setModelFileName(model.name)
    generic = maker.processModel()
    generic.printToXML(str(folder / "generic.osim"))
    placer.setOutputModelFileName("subject.osim")
    begin = time.process_time()
    state = generic.initSystem()
    scaler.processModel(generic, str(folder) + "/", made.getSubjectMass())
    state = generic.initSystem()
    placer.processModel(generic, str(folder) + "/")
    seconds = time.process_time() - begin
    del state
    trial = folder / placer.getStaticPoseFileName()
    return folder / "subject.osim", folder / "generic.osim", trial, seconds


def length(figure: supple.Figure, bone: str, side: str) -> float:
    """From joint to joint, at rest [m]."""
    a, b = (figure.placement(figure.rest, f"{name}_{side}")[:3, 3] for name in BONES[bone])
    return float(np.linalg.norm(b - a))


def beside(setup: Path, model: Path) -> None:
    """The lines of one set-up."""
    with tempfile.TemporaryDirectory() as folder:
        subject, generic, static, seconds = tool(setup, model, Path(folder).resolve())
        made, figure = supple.load(subject), supple.load(generic)
        markers = supple.read_markers(static)
        span = ET.parse(setup).getroot().find(".//MarkerPlacer/time_range")
        first, last = (float(x) for x in (span.text or "0 1").split()) if span is not None else (0.0, 1.0)
        inside = np.flatnonzero((markers.times >= first - 1e-9) & (markers.times <= last + 1e-9))
        still = markers.frames(int(inside[0]), int(inside[-1]) + 1) if len(inside) else markers.frames(0, 1)
        theirs = supple.track(made, still)
        rows: list[tuple[str, Any, float, float]] = [("ScaleTool", made, float(theirs.rms), seconds)]
        for scales in ("symmetric", "segments"):
            begin = time.process_time()
            fit = supple.fit_subject(figure, still, scales=scales, frames=min(10, len(still)))
            rows.append((f"supple, {scales}", fit.figure, float(fit.motion.rms), time.process_time() - begin))
    for who, person, off, taken in rows:
        parts = [
            f"{bone}_{side} {length(person, bone, side) / length(figure, bone, side):.3f}"
            + (
                ""
                if person is made
                else f" ({100 * (length(person, bone, side) / length(made, bone, side) - 1):+.1f} %)"
            )
            for bone in BONES
            for side in "rl"
        ]
        print(f"{setup.stem[:24]:24} {who:18} {1e3 * off:6.2f} mm {taken:6.2f} s  {'  '.join(parts)}", flush=True)


def main() -> int:
    """Print the lines of all set-ups."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("setups", nargs="+", metavar="SETUP=MODEL")
    for pair in parser.parse_args().setups:
        setup, _, model = pair.partition("=")
        beside(Path(setup).resolve(), Path(model).resolve())
    return 0


if __name__ == "__main__":
    sys.exit(main())
