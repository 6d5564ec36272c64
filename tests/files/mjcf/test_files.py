"""MJCF that names other files: all of them found where MuJoCo finds them, none of them outside."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import numpy as np
import pytest

import supple
from supple.errors import BadFile
from supple.files.mjcf.reader import parse_mjcf, read_mjcf
from supple.geometry.shapes import Box
from tests.tables.mjcf_models import GEOM, assert_bodies_agree, mujoco

CORNERS = [(0, 0, 0), (2, 0, 0), (0, 3, 0), (0, 0, 4)]
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is found because the process happens to run there."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")


def obj() -> str:
    lines = [f"v {x} {y} {z}" for x, y, z in CORNERS] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in FACES]
    return "\n".join(lines) + "\n"


def stl() -> bytes:
    rows = [struct.pack("<12fH", 0, 0, 0, *CORNERS[a], *CORNERS[b], *CORNERS[c], 0) for a, b, c in FACES]
    return b"\0" * 80 + struct.pack("<I", len(rows)) + b"".join(rows)


def written(folder: Path, **files: str | bytes) -> Path:
    """Files in a folder by path, with ``__`` for slashes and one more for the dot; the path of model.xml."""
    for name, content in files.items():
        *above, stem, ending = name.split("__")
        path = folder.joinpath(*above, f"{stem}.{ending}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder / "model.xml"


def hand(mesh: str, compiler: str = "", more: str = "") -> str:
    return f"""<mujoco model='hand'><compiler {compiler}/><asset>{mesh}</asset><worldbody>
      <body name='palm'><joint name='j'/><geom type='mesh' mesh='m' mass='1'/></body></worldbody>{more}</mujoco>"""


def assert_box(figure: supple.Figure) -> None:
    """The mesh was read: its box is as large as the corners say."""
    (box,) = figure.bodies["palm"].shapes
    assert isinstance(box, Box)
    assert figure.uncovered == ()
    assert np.prod(np.subtract(box.upper, box.lower)) >= 24.0 - 1e-9


# ── what is found ────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("mesh", "compiler"),
    [
        ("<mesh name='m' file='assets/m.obj'/>", ""),
        ("<mesh file='m.obj'/>", "meshdir='assets'"),
        ("<mesh file='m.obj'/>", "assetdir='assets/' texturedir='nowhere'"),
        ("<mesh file='far/away/m.obj'/>", "meshdir='assets' strippath='true'"),
        ("<mesh name='m' file='m.STL'/>", "meshdir='./assets/'"),
    ],
)
def test_meshes_are_read_from_the_folder_that_the_compiler_names(tmp_path: Path, mesh: str, compiler: str):
    path = written(tmp_path, assets__m__obj=obj(), assets__m__STL=stl(), model__xml=hand(mesh, compiler))
    figure = supple.load(path)
    assert_box(figure)
    assert_bodies_agree(figure, mujoco.MjModel.from_xml_path(str(path)))


def test_two_models_with_meshes_of_the_same_name_do_not_mix(tmp_path: Path):
    mesh = "<mesh name='m' file='m.obj'/>"
    for name in ("one", "two"):
        written(tmp_path / name, model__xml=hand(mesh), m__obj=obj() if name == "one" else obj().replace("v 2", "v 8"))
    volumes = []
    for name in ("one", "two"):
        (box,) = supple.load(tmp_path / name / "model.xml").bodies["palm"].shapes
        volumes.append(np.prod(np.subtract(box.upper, box.lower)))
    assert volumes[1] > 2.0 * volumes[0]


def test_includes_nest_and_are_seen_from_the_model_and_from_themselves(tmp_path: Path):
    path = written(
        tmp_path,
        model__xml="<mujoco model='m'><include file='parts/all.xml'/></mujoco>",
        parts__all__xml="""<mujoco><compiler meshdir='meshes'/><include file='asset.xml'/>
          <worldbody><include file='parts/body.xml'/></worldbody></mujoco>""",
        parts__asset__xml="<mujocoinclude><asset><mesh name='m' file='m.obj'/></asset></mujocoinclude>",
        parts__body__xml=f"<x><body name='palm'>{GEOM}<joint name='j'/><geom type='mesh' mesh='m' pos='1 0 0'/></body></x>",
        meshes__m__obj=obj(),
    )
    figure = supple.load(path)
    assert (figure.name, figure.coordinates, len(figure.bodies["palm"].shapes)) == ("m", ("j",), 2)
    assert figure.uncovered == ()
    assert_bodies_agree(figure, mujoco.MjModel.from_xml_path(str(path)))


def test_attached_models_keep_their_own_files(tmp_path: Path):
    path = written(
        tmp_path,
        model__xml="""<mujoco><asset><model name='h' file='hand/hand.xml'/></asset><worldbody>
          <attach model='h' body='palm' prefix='left_'/><frame pos='1 0 0'><attach model='h' body='palm' prefix='right_'/>
          </frame></worldbody></mujoco>""",
        hand__hand__xml=hand("<mesh name='m' file='m.obj'/>", "meshdir='meshes'"),
        hand__meshes__m__obj=obj(),
    )
    figure = supple.load(path)
    assert figure.coordinates == ("left_j", "right_j")
    assert figure.uncovered == ()
    assert_bodies_agree(figure, mujoco.MjModel.from_xml_path(str(path)))


def test_folders_that_the_user_names_are_searched_too(tmp_path: Path):
    path = written(
        tmp_path / "robot",
        model__xml=hand("<mesh name='m' file='../library/m.obj'/>", more="<include file='../library/more.xml'/>"),
    )
    written(
        tmp_path / "library",
        m__obj=obj(),
        more__xml=f"<mujoco><worldbody><body name='more'>{GEOM}</body></worldbody></mujoco>",
    )
    with pytest.raises(BadFile, match=r"outside the model's folder.*folders="):
        supple.load(path)
    figure = supple.load(path, folders=[tmp_path / "library"])
    assert "more" in figure.segments
    assert_box(figure)
    assert figure.origin is not None
    assert figure.origin.options["folders"] == (str(tmp_path / "library"),)
    with pytest.raises(BadFile, match="not a folder"):
        supple.load(path, folders=[tmp_path / "nowhere"])
    text = path.read_text().replace("../library/", "")
    assert_box(supple.load(text, folders=tmp_path / "library"))


# ── what is not there ────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("mesh", "reason"),
    [
        ("<mesh name='m' file='m.obj'/>", "'m.obj' (missing)"),
        ("<mesh name='m' file='pointer.obj'/>", "git lfs"),
        ("<mesh name='m' file='m.dae'/>", "not OBJ, STL or MSH"),
        ("<mesh name='m' file='../secret.obj' scale='.001 .001 .001'/>", "outside"),
        ("<mesh name='m' file='{outside}/secret.obj'/>", "outside"),
        ("<mesh name='m' file='link.obj'/>", "outside"),
        ("<mesh name='m' file='linked/secret.obj'/>", "outside"),
        ("<mesh name='m' file='package://secret/secret.obj'/>", "missing"),
        ("<mesh name='m' file='file:///etc/passwd.obj'/>", "outside"),
        ("<mesh name='m'><plugin instance='x'/></mesh>", "plug-in"),
    ],
)
def test_without_its_meshes_a_model_still_moves(tmp_path: Path, mesh: str, reason: str):
    written(tmp_path / "outside", secret__obj=obj())
    (tmp_path / "secret.obj").write_text(obj())
    path = written(
        tmp_path / "robot",
        model__xml=hand(mesh.format(outside=tmp_path / "outside")),
        pointer__obj="version https://git-lfs.github.com/spec/v1\n",
    )
    os.symlink(tmp_path / "outside" / "secret.obj", tmp_path / "robot" / "link.obj")
    os.symlink(tmp_path / "outside", tmp_path / "robot" / "linked")
    figure = supple.load(path)
    assert figure.coordinates == ("j",)
    assert figure.uncovered == ("palm",)
    assert figure.bodies["palm"].mass == pytest.approx(1.0)
    assert figure.bodies["palm"].shapes == ()
    assert any(reason in note for note in figure.notes if note.startswith("Meshes were not read"))


def test_meshes_that_are_only_looked_at_are_not_even_opened(tmp_path: Path):
    seen = "<geom type='mesh' mesh='m' contype='0' conaffinity='0' group='2'/>"
    body = f"<body name='a'><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/><joint/><geom size='.1'/>{seen}</body>"
    path = written(
        tmp_path,
        model__xml=f"""<mujoco><asset><mesh name='m' file='m.obj'/><texture name='t' type='2d' file='t.png'/>
          <hfield name='h' file='h.png' size='1 1 1 1'/></asset>
          <worldbody><geom type='hfield' hfield='h'/>{body}</worldbody></mujoco>""",
        m__obj="no mesh at all",
        t__png="no picture",
        h__png="no picture",
    )
    figure = supple.load(path)
    assert (len(figure.bodies["a"].shapes), figure.uncovered) == (1, ())
    assert not any("Meshes" in note for note in figure.notes)


def test_files_where_the_process_runs_are_not_taken_for_those_of_the_model(tmp_path: Path):
    for name in ("supple-0.obj", "supple-stand-in.obj", "m.obj"):
        Path(name).write_text("not a mesh")
    figure = supple.load(written(tmp_path / "robot", model__xml=hand("<mesh name='m' file='m.obj'/>")))
    assert figure.uncovered == ("palm",)
    Path("m.obj").write_text(obj())
    assert supple.load(hand("<mesh name='m' file='m.obj'/>")).uncovered == ("palm",)


def test_a_mesh_that_is_broken_is_refused_by_mujoco(tmp_path: Path):
    with pytest.raises(BadFile, match="MuJoCo refuses the model"):
        supple.load(written(tmp_path, model__xml=hand("<mesh name='m' file='m.stl'/>"), m__stl="nothing"))


# ── hostile files ────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("/etc/passwd", "outside"),
        ("../secret.xml", "outside"),
        ("parts/../../secret.xml", "outside"),
        ("link.xml", "outside"),
        ("linked/secret.xml", "outside"),
        ("C:/secret.xml", "outside"),
        ("file:///etc/passwd", "outside"),
        ("missing.xml", "missing"),
        ("", "empty"),
        ("model.xml", "includes itself"),
        ("a.xml", "includes itself"),
        ("broken.xml", "XML is broken"),
        ("parts", "missing"),
        ("{}".format("x" * 5000), "no path"),
    ],
)
@pytest.mark.parametrize("tag", ["include", "Include"])
def test_includes_from_elsewhere_and_of_themselves_are_refused(tmp_path: Path, tag: str, reference: str, message: str):
    body = f"<mujoco><worldbody><body name='secret'>{GEOM}</body></worldbody></mujoco>"
    (tmp_path / "secret.xml").write_text(body)
    path = written(
        tmp_path / "robot",
        model__xml=f"<mujoco>\n<{tag} file='{reference}'/></mujoco>",
        a__xml="<x><include file='b.xml'/></x>",
        b__xml="<x><include file='./a.xml'/></x>",
        broken__xml="<x>",
        parts__p__xml="<x/>",
    )
    os.symlink(tmp_path / "secret.xml", tmp_path / "robot" / "link.xml")
    os.symlink(tmp_path, tmp_path / "robot" / "linked")
    with pytest.raises(BadFile, match=message) as caught:
        read_mjcf(path)
    if "self" not in message and "broken" not in message:
        assert (caught.value.file, caught.value.line) == (str(path), 2)


def test_a_text_opens_nothing():
    Path("secret.xml").write_text(f"<x><worldbody><body name='secret'>{GEOM}</body></worldbody></x>")
    with pytest.raises(BadFile, match="missing"):
        parse_mjcf("<mujoco><include file='secret.xml'/></mujoco>", "secret.xml")
    with pytest.raises(BadFile, match="missing"):
        parse_mjcf("<mujoco><asset><model name='m' file='secret.xml'/></asset></mujoco>")


def test_attached_models_are_held_to_the_same(tmp_path: Path):
    path = written(tmp_path, model__xml="<mujoco><asset>\n<model name='m' file='other.xml'/></asset></mujoco>")
    for text, message in (
        ("<robot name='r'><link name='a'/></robot>", "begins with <mujoco>"),
        ("<mujoco><include file='/etc/passwd'/></mujoco>", "outside"),
        ("<mujoco><asset><model name='m' file='other.xml'/></asset></mujoco>", "attaches itself"),
    ):
        (tmp_path / "other.xml").write_text(text)
        with pytest.raises(BadFile, match=message):
            read_mjcf(path)


def test_copies_of_copies_are_refused_before_they_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("supple.files.mjcf.gather.MOST_ELEMENTS", 20_000)
    files = {"d0__xml": f"<mujoco model='m'><worldbody><body name='b'>{GEOM * 20}</body></worldbody></mujoco>"}
    for k in range(1, 8):
        many = "".join(f"<attach model='m' prefix='p{i}_'/>" for i in range(10))
        asset = f"<asset><model file='d{k - 1}.xml'/></asset>"  # called as it calls itself
        files[f"d{k}__xml"] = f"<mujoco model='m'>{asset}<worldbody>{many}</worldbody></mujoco>"
    written(tmp_path, **files)
    with pytest.raises(BadFile, match="more than 200000 elements"):
        read_mjcf(tmp_path / "d7.xml")
    more = {"i0__xml": "<x>" + "<body/>" * 100 + "</x>"}
    for k in range(1, 8):
        more[f"i{k}__xml"] = "<x>" + f"<include file='i{k - 1}.xml'/>" * 10 + "</x>"
    path = written(tmp_path, model__xml="<mujoco><worldbody><include file='i7.xml'/></worldbody></mujoco>", **more)
    with pytest.raises(BadFile, match="more than 20000 elements"):
        read_mjcf(path)
    body = f"<body name='b'>{GEOM}</body>" + "".join(f"<attach body='b' prefix='p{i}_'/>" for i in range(30))
    with pytest.raises(BadFile, match="more than 200000 elements"):
        parse_mjcf(f"<mujoco><worldbody>{body}</worldbody></mujoco>")


def test_long_values_are_not_multiplied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("supple.files.mjcf.gather.MOST_BYTES", 1_000_000)
    long = "1 " * 10_000
    written(tmp_path, part__xml=f"<x><asset><mesh name='m' vertex='{long}'/></asset></x>")
    path = written(tmp_path, model__xml="<mujoco>" + "<include file='part.xml'/>" * 200 + "</mujoco>")
    with pytest.raises(BadFile, match="characters, counting what it includes"):
        read_mjcf(path)
    with pytest.raises(BadFile, match="the name of a <body> is longer"):
        parse_mjcf(f"<mujoco><worldbody><body name='{'x' * 5000}'/></worldbody></mujoco>")
