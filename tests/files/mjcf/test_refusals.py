"""MJCF that is broken, or asks for too much; and what is left out of a model because it moves nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from supple.errors import BadFile, MissingExtra
from supple.files.mjcf.reader import parse_mjcf, read_mjcf
from tests.tables.mjcf_models import GEOM, model_of, mujoco

BODY = f"<body name='b'>{GEOM}<joint name='j'/></body>"
BAD = [
    ("", 1, "empty"),
    ("no xml", 1, "XML"),
    ("<robot name='r'/>", 1, "begins with <mujoco>"),
    ("<!DOCTYPE a [<!ENTITY b SYSTEM 'secret.xml'>]>\n<mujoco>&b;</mujoco>", 1, "document types"),
    ("<mujoco>\n<include file='secret.xml'/></mujoco>", 2, "the file is missing"),
    ("<mujoco><asset>\n<model name='m' file='other.xml'/></asset></mujoco>", 2, "the file is missing"),
    ("<mujoco><asset>\n<model name='m'/></asset></mujoco>", 2, "no attribute 'file'"),
    (model_of("\n<composite type='cable' count='99999 1 1'/>"), 2, "99999 copies"),
    (model_of(f"<replicate count='200'>\n<replicate count='200'>{BODY}</replicate></replicate>"), 2, "40000 copies"),
    (model_of(f"\n<replicate count='nan'>{BODY}</replicate>"), 2, "finite"),
    ("<mujoco><asset>\n<mesh name='m' builtin='sphere' params='99999'/></asset></mujoco>", 2, "at most 200"),
    (model_of(f"\n<body pos='0 nan 0'>{GEOM}</body>"), 2, "pos of <body> must be finite"),
    (model_of("\n<body pos='0 0'/><bone/>"), 2, "MuJoCo refuses the model"),
    (model_of("\n<body><joint/></body>"), 2, "MuJoCo refuses the model: .*mass"),
]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MuJoCo leaves its log where it runs."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("text", "line", "message"), BAD)
def test_bad_files_are_refused_with_file_and_line(text: str, line: int, message: str):
    Path("secret.xml").write_text("<mujocoinclude><worldbody/></mujocoinclude>")
    with pytest.raises(BadFile, match=message) as caught:
        parse_mjcf(text, "bad.xml")
    assert (caught.value.file, caught.value.line) == ("bad.xml", line)


@pytest.mark.parametrize(
    "more",
    [
        "<keyframe><key name='home' qpos='1e300'/></keyframe>",
        "<equality><joint joint1='j' polycoef='1e300 0 0 0 0'/></equality>",
    ],
)
def test_numbers_without_measure_are_refused(more: str):
    with pytest.raises(BadFile, match="must be finite and not exceed 1e"):
        parse_mjcf(model_of(BODY, more=more))


SILENT = {
    "a huge picture": "<asset><texture name='t' builtin='flat' type='2d' width='999999' height='999999'/></asset>",
    "a huge height field": "<asset><hfield name='h' nrow='999999' ncol='999999' size='1 1 1 1'/></asset>",
    "huge buffers": "<size memory='999T' nuser_body='99999999' nkey='99999999'/>",
    "pictures of a cube": "<asset><texture name='t' type='cube' fileright='/x.png' fileup='../y.png'/></asset>",
    "actuators and sensors": "<actuator><motor joint='j'/></actuator><sensor><jointpos joint='j'/></sensor>",
    "a plug-in": "<extension><plugin plugin='evil'><instance name='i'/></plugin></extension>",
    "a plug-in that acts": "<actuator><plugin plugin='evil' joint='j'/></actuator>",
    "a skin": "<asset><skin name='s' file='/etc/passwd'/></asset>",
    "something soft": "<deformable><flex body='b b b' vertex='0 0 0 1 0 0 0 1 0' element='0 1 2' dim='2'/></deformable>",
    "other keyframes": "<keyframe><key name='other' qpos='1 2 3 4' ctrl='1'/></keyframe>",
    "a wide tendon": "<default><tendon width='0.002'/></default>",
}


@pytest.mark.parametrize("name", SILENT)
def test_what_moves_nothing_is_left_out(name: str):
    figure = parse_mjcf(model_of(BODY, more=SILENT[name]))
    assert figure.coordinates == ("j",)
    notes = " ".join(figure.notes)
    assert ("Plug-ins are left out" in notes) == ("plug-in" in name)
    assert ("Soft bodies are left out" in notes) == ("soft" in name)


def test_a_spatial_tendon_may_have_a_width():
    sites = "<site name='s'/><site name='t' pos='0 0 1'/>"
    tendon = "<tendon><spatial name='w' width='0.002'><site site='s'/><site site='t'/></spatial></tendon>"
    assert parse_mjcf(model_of(sites + BODY, more=tendon)).coordinates == ("j",)


def test_text_that_is_not_utf8_and_files_that_are_not_there_are_refused(tmp_path: Path):
    with pytest.raises(BadFile, match="UTF-8"):
        parse_mjcf("<?xml version='1.0' encoding='latin-1'?><mujoco model='ä'/>".encode("latin-1"))
    with pytest.raises(BadFile, match="cannot be read"):
        read_mjcf(tmp_path / "missing.xml")


def test_without_mujoco_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtra, match=r"supple\[mjcf\]"):
        parse_mjcf(model_of(BODY))


COAXIAL = "<body name='a'><joint name='j'/><joint name='k'/><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body>"


def test_warnings_reach_neither_the_folder_nor_stderr(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    mujoco.MjModel.from_xml_string(model_of(COAXIAL))  # MuJoCo by itself
    log = tmp_path / "MUJOCO_LOG.TXT"
    assert log.exists()
    assert "singular" in "".join(capfd.readouterr())
    log.unlink()
    before = mujoco.get_mju_user_warning()
    assert parse_mjcf(model_of(COAXIAL)).coordinates == ("j", "k")
    assert not list(tmp_path.iterdir())
    assert capfd.readouterr() == ("", "")
    assert mujoco.get_mju_user_warning() is before


def test_what_mujoco_warns_of_before_it_refuses_is_part_of_the_error(monkeypatch: pytest.MonkeyPatch):
    def refuse(text: str, **_: object) -> None:
        mujoco.get_mju_user_warning()("the first\n warning")
        raise ValueError("no")

    monkeypatch.setattr(mujoco, "MjSpec", type("Refusing", (), {"from_string": staticmethod(refuse)}))
    with pytest.raises(BadFile, match="MuJoCo refuses the model: no; the first warning"):
        parse_mjcf(model_of(BODY))
