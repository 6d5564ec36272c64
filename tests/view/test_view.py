"""Pictures: every figure of the catalogue can be drawn, solids are seen where they are, goals appear, nonsense is refused."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip("matplotlib")

import supple
from supple.errors import BadValue
from supple.figure import catalogue
from supple.problem.obstacles import named_obstacles
from supple.view import draw, draw_frames, picture
from supple.view.camera import Camera, photograph
from supple.view.colours import RAMP, ramp, rgb
from supple.view.ground import nice
from supple.view.marks import Label, nearest
from supple.view.skeleton import Piece, Skeleton, used_range
from supple.view.solids import Bone, Drum, of_polytope, of_shape
from supple.view.surroundings import Surroundings

PNG = b"\x89PNG\r\n\x1a\n"


def pixels(path: Path) -> np.ndarray:
    """The picture as numbers, checked to be a PNG of a sensible size."""
    from matplotlib.image import imread

    assert path.read_bytes()[:8] == PNG
    image = np.asarray(imread(path))[..., :3]
    assert 100 <= min(image.shape[:2]) <= max(image.shape[:2]) <= 4000
    return image


# ── pictures ─────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("name", catalogue.names())
def test_every_figure_can_be_drawn(name: str, tmp_path: Path):
    path = tmp_path / f"{name}.png"
    draw(supple.load(name), path=path, dpi=50)
    image = pixels(path)
    dark = (image.max(axis=-1) < 0.75).mean()
    assert image.std() > 0.02, "the picture is blank"
    assert 0.01 < dark < 0.7, f"{dark:.1%} of the picture is covered"
    edge = np.concatenate([image[0], image[:, 0]])
    assert edge.min() > 0.5, "the figure touches the edge of the paper"


def test_another_posture_is_another_picture(tmp_path: Path):
    figure = supple.load("ur5")
    one, other = tmp_path / "one.png", tmp_path / "other.png"
    draw(figure, figure.rest, path=one, dpi=40, chart=False)
    draw(figure, figure.rest + 0.0, path=other, dpi=40, chart=False)
    assert np.array_equal(pixels(one), pixels(other))
    draw(figure, figure.rest + 0.2, path=other, dpi=40, chart=False)
    first, second = pixels(one), pixels(other)
    assert first.shape != second.shape or not np.array_equal(first, second)


def tasks() -> dict[str, supple.Task]:
    point, frame, direction = supple.Point("tool0"), supple.Frame("tool0"), supple.Direction("tool0", (0, 0, 1))
    far = (0.9, 0.5, 0.9)
    return {
        "At": supple.Task(point, supple.At(far)),
        "Placed": supple.Task(frame, supple.Placed(far, quat_wxyz=(1, 0, 0, 0))),
        "Facing": supple.Task(direction, supple.Facing((1, 0, 0))),
        "Facing a rotation": supple.Task(frame, supple.Facing(matrix=np.eye(3))),
        "AimedAt": supple.Task(direction, supple.AimedAt(far)),
        "OnLine": supple.Task(point, supple.OnLine(far, (0, 1, 0))),
        "OnPlane": supple.Task(point, supple.OnPlane(far, (0, 0, 1))),
        "Beyond": supple.Task(point, supple.Beyond(far, (0, 0, 1))),
        "Within": supple.Task(frame, supple.Within(supple.place(far), box=0.1, tilt=0.2)),
        "Aligned": supple.Task(direction, supple.Aligned(far, (0, 0, 1))),
        "either end": supple.Task(supple.AnyOf([(point, supple.At(far)), (direction, supple.AimedAt(far))])),
        "AnyOf": supple.Task(point, supple.AnyOf([supple.At(far), supple.At((0.0, 0.9, 0.2))])),
        "Balanced": supple.Task(point, supple.Balanced([(1, 0), (2, 0), (1, 1)])),
        "Balanced a segment": supple.Task(point, supple.Balanced([(0, 0), (1, 0), (0, 1)], relative_to="forearm_link")),
        "Outside": supple.Task(point, supple.Outside(supple.Box((-2, -2, -2), (2, 2, 2)))),
        "relative": supple.Task(point, supple.At((0, 0, 0.3), relative_to="forearm_link")),
        "Gap": supple.Task(supple.Gap(supple.Point("base_link"), point), supple.At((0, 0, 0))),
    }


@pytest.mark.parametrize("name", tasks())
def test_goals_add_artists(name: str):
    figure = supple.load("ur5")
    problem = supple.Problem(figure, [tasks()[name]])
    without = draw(figure, dpi=20)
    with_goal = draw(figure, problem=problem, names=True, dpi=20)
    assert len(with_goal.get_children()) > len(without.get_children()) + 1
    assert any(text.get_text() == problem.tasks[0].name for text in with_goal.texts)


def test_near_is_a_preference_and_has_no_mark():
    figure = supple.load("ur5")
    problem = supple.Problem(figure, [supple.Near(figure.rest)])
    assert len(draw(figure, problem=problem, dpi=20).get_children()) == len(draw(figure, dpi=20).get_children())


def test_the_colour_of_a_goal_says_whether_it_is_met():
    figure = supple.load("ur5")
    here = figure.placement(figure.rest, "tool0")[:3, 3]
    colours = []
    for target in (here, here + np.array([0, 0, 0.1])):
        problem = supple.Problem(figure, [supple.Task(supple.Point("tool0"), supple.At(target))])
        strokes = draw(figure, problem=problem, dpi=20).lines
        colours.append({line.get_color() for line in strokes} - {picture.INK})
    assert colours[0] != colours[1]
    assert all(len(found) == 1 for found in colours)


def test_obstacles_are_drawn():
    figure = supple.load("ur5").with_spheres({"tool0": [(0, 0, 0, 0.05)]})
    inside = supple.Polytope(np.vstack([np.eye(3), -np.eye(3)]), np.array([0.7, 0.3, 0.3, -0.5, 0.1, 0.0]))
    bodies = [supple.Ball((0.5, 0.5, 0.2), 0.1), supple.Box((0.6, -0.5, 0), (0.9, -0.2, 0.4)), inside]
    task = supple.Task(supple.Point("tool0"), supple.At((0.4, 0.1, 0.4)))
    plain = draw(figure, problem=supple.Problem(figure, [task]), dpi=30).images[0].get_array()
    full = draw(figure, problem=supple.Problem(figure, [task], obstacles=bodies), dpi=30).images[0].get_array()
    assert plain is not None
    assert full is not None
    assert (np.asarray(full)[..., 3] > 0.5).sum() > (np.asarray(plain)[..., 3] > 0.5).sum()


def around(
    *bodies: supple.Box | supple.Capsule | supple.Polytope, view: tuple[float, float] = (16, -44)
) -> Surroundings:
    """What is drawn around a UR5 that stands on z = 0."""
    figure = supple.load("ur5")
    pieces = Skeleton(figure, figure.rest).pieces()
    return Surroundings(named_obstacles(bodies), pieces, 1.0, 0.0, Camera(view))


def test_a_floor_is_the_ground_and_nothing_else():
    floor = around(
        supple.Polytope.half_space((0, 0, -0.3), (0, 0, 2)), supple.Polytope.half_space((0, 0, -0.5), (0, 0, 1))
    )
    assert floor.ground == pytest.approx(-0.3)
    assert not floor.pieces()
    assert not floor.marks(names=True)


def test_a_wall_behind_is_solid_and_one_in_front_is_a_pane():
    wall = supple.Polytope.half_space((0, -0.8, 0), (0, 1, 0))
    behind, front = around(wall, view=(16, 90)), around(wall, view=(16, -90))
    assert [len(behind.pieces()), len(behind.marks(names=False))] == [1, 0]
    assert [len(front.pieces()), len(front.marks(names=False))] == [0, 1]
    assert not around(supple.Polytope.half_space((0, -9, 0), (0, 1, 0)), view=(16, 90)).pieces()
    corners = front.marks(names=False)[0].corners  # type: ignore[union-attr]
    assert_allclose(corners[:, 1], -0.8, atol=1e-9)
    assert corners[:, 2].min() == pytest.approx(0.0, abs=1e-9)
    ways = np.diff(corners, axis=0, append=corners[:1])
    turns = np.cross(ways, np.roll(ways, -1, axis=0))[:, 1]
    assert (turns > 0).all() or (turns < 0).all(), "the corners do not go around"


def test_obstacles_have_their_names_on_top():
    table = around(supple.Box((1, 1, 0), (2, 2, 0.7)), supple.Capsule(0.1, 1.0, supple.place((0, 0, 5))))
    labels = {mark.text: mark.place for mark in table.marks(names=True) if isinstance(mark, Label)}
    assert_allclose(labels["obstacle 1"], (1.5, 1.5, 0.7), atol=1e-9)
    assert_allclose(labels["obstacle 2"], (0, 0, 5.6), atol=1e-9)
    assert len(table.pieces()) == 2


def test_axes_of_ones_own():
    from matplotlib.figure import Figure as Sheet

    left, right = Sheet(figsize=(6, 3)).subplots(1, 2)
    assert draw(supple.load("panda"), ax=left, dpi=40) is left
    assert left.images
    assert not right.has_data()
    assert left.get_aspect() == 1.0


def test_a_figure_without_matplotlib_says_which_extra_brings_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(supple.MissingExtra, match=r"supple\[view\]"):
        draw(supple.load("panda"))


def test_import_supple_does_not_import_matplotlib():
    import subprocess

    code = "import sys, supple; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"q": [0.0, 1.0]}, "8 coordinates"),
        ({"q": [np.nan] * 8}, "finite"),
        ({"q": np.zeros((2, 8))}, "has 8 coordinates, not shape"),
        ({"path": "pose.doc"}, "pose.doc"),
        ({"path": "no/such/folder/pose.png"}, "cannot be written"),
        ({"view": (0.0,)}, "elevation"),
        ({"view": (120.0, 0.0)}, "elevation"),
        ({"problem": "reach"}, "Problem"),
    ],
)
def test_bad_input_is_refused_by_name(arguments: dict, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(supple.BadValue, match=message):
        draw(supple.load("panda"), dpi=20, **arguments)
    assert not list(tmp_path.iterdir())


def test_a_problem_of_another_figure_is_refused():
    other = supple.load("ur5")
    problem = supple.Problem(other, [supple.Task("tool0", supple.At((0.4, 0, 0.4)))])
    with pytest.raises(supple.BadValue, match="ur5"):
        draw(supple.load("panda"), problem=problem)


def test_three_dimensional_axes_are_refused():
    from matplotlib.figure import Figure as Sheet

    with pytest.raises(supple.BadValue, match="two-dimensional"):
        draw(supple.load("panda"), ax=Sheet().add_subplot(projection="3d"))


def test_a_figure_of_one_point_has_nothing_to_draw():
    with pytest.raises(supple.BadValue, match="nothing to draw"):
        draw(supple.Figure("dot", [*supple.fixed("dot")]))


# ── geometry ─────────────────────────────────────────────────────────────────────────────────────────────────────────
SOLIDS = {
    "ball": of_shape(supple.Ball((0.1, 0.2, 0.3), 0.4)),
    "capsule": of_shape(supple.Capsule(0.2, 0.7, supple.place((0.1, 0, 0), rpy=(0.4, 0.9, 0.2)))),
    "tapered": Bone(np.array([0.0, 0.1, 0.2]), np.array([0.5, -0.2, 0.6]), 0.3, 0.1),
    "towards the eye": Bone(np.zeros(3), np.array([0.01, 0.0, 0.8]), 0.3, 0.1),
    "away from the eye": Bone(np.zeros(3), np.array([0.0, 0.02, -0.8]), 0.3, 0.1),
    "cylinder": of_shape(supple.geometry.Cylinder(0.3, 0.6, supple.place((0, 0, 0.1), rpy=(0.5, 0.3, 0.1)))),
    "upright drum": Drum(np.zeros(3), np.array([0.0, 0.0, 1.0]), 0.3, 0.4),
    "lying drum": Drum(np.zeros(3), np.array([1.0, 0.0, 0.0]), 0.3, 0.4),
    "box": of_shape(supple.Box((-0.1, -0.2, -0.3), (0.4, 0.3, 0.2), supple.place((0, 0, 0), rpy=(0.3, 0.2, 0.1)))),
}


def inside(solid, p: np.ndarray) -> np.ndarray:
    """Whether points (n, 3) lie in a solid, by the plainest definition there is."""
    if isinstance(solid, Bone):
        t = np.linspace(0.0, 1.0, 4001)
        centres = solid.start + t[:, None] * (solid.end - solid.start)
        radii = solid.r_start + t * (solid.r_end - solid.r_start)
        return np.array([(np.linalg.norm(centres - x, axis=1) <= radii).any() for x in p])
    if isinstance(solid, Drum):
        along = (p - solid.middle) @ solid.axis
        across = np.linalg.norm(p - solid.middle - along[:, None] * solid.axis, axis=1)
        return (np.abs(along) <= 0.5 * solid.length) & (across <= solid.radius)
    return (p @ solid.A.T <= solid.b).all(axis=1)


@pytest.mark.parametrize("name", SOLIDS)
def test_lines_of_sight_end_on_the_surface(name: str):
    solid = SOLIDS[name]
    x, y = (c.ravel() for c in np.meshgrid(np.linspace(-1, 1, 23), np.linspace(-1, 1, 23)))
    z, normal = solid.top(x, y)
    seen = ~np.isnan(z)
    assert 5 < seen.sum() < len(x)
    surface = np.column_stack([x, y, z])[seen]
    assert inside(solid, surface - 1e-5 * normal[seen]).mean() > 0.97  # a step inwards; rims are rounded away
    assert not inside(solid, surface + np.array([0, 0, 1e-4])).any()
    column = np.column_stack([x[~seen], y[~seen]])
    for height in np.linspace(-1.5, 1.5, 31):
        assert not inside(solid, np.column_stack([column, np.full(len(column), height)])).any()


@pytest.mark.parametrize("name", SOLIDS)
def test_normals_are_unit_vectors_towards_the_eye(name: str):
    x, y = np.meshgrid(np.linspace(-1, 1, 23), np.linspace(-1, 1, 23))
    z, normal = SOLIDS[name].top(x, y)
    seen = ~np.isnan(z)
    assert_allclose(np.linalg.norm(normal[seen], axis=1), 1.0, atol=1e-9)
    assert (normal[seen][:, 2] > -1e-9).all()


@pytest.mark.parametrize("name", SOLIDS)
def test_a_solid_moves_with_its_skin(name: str):
    T = supple.place((0.3, -0.2, 0.5), rpy=(0.3, -0.6, 1.1))
    skin, normal = SOLIDS[name].skin()
    there, turned = SOLIDS[name].moved(T).skin()
    low, high = there.min(axis=0), there.max(axis=0)
    moved = skin @ T[:3, :3].T + T[:3, 3]
    assert_allclose(np.stack([moved.min(axis=0), moved.max(axis=0)]), np.stack([low, high]), atol=0.03)
    assert normal.shape == skin.shape == there.shape == turned.shape


def test_a_polytope_is_cut_to_what_is_near():
    half = supple.Polytope(np.array([[0.0, 0.0, 1.0]]), np.array([0.25]))
    block = of_polytope(half, np.array([[-1.0] * 3, [1.0] * 3]))
    assert block is not None
    assert_allclose([block.corners.min(axis=0), block.corners.max(axis=0)], [(-1, -1, -1), (1, 1, 0.25)], atol=1e-9)
    assert (
        of_polytope(supple.Polytope(np.array([[0.0, 0.0, 1.0]]), np.array([-5.0])), np.array([[-1.0] * 3, [1.0] * 3]))
        is None
    )


def test_the_camera_keeps_lengths_across_the_view():
    camera = Camera((30.0, -60.0))
    assert_allclose(camera.axes @ camera.axes.T, np.eye(3), atol=1e-12)
    assert_allclose(camera.flat(np.array([0.0, 0.0, 1.0])), [0.0, np.cos(np.deg2rad(30.0))], atol=1e-12)
    front = Camera((0.0, 0.0))  # the eye on the x axis
    assert_allclose(front.flat(np.array([5.0, 1.0, 2.0])), [1.0, 2.0], atol=1e-12)


@pytest.mark.parametrize("elevation", [5.0, 8.0, 30.0])
def test_a_face_is_as_light_at_a_grazing_angle_and_its_border_as_dark(elevation: float):
    """A table top in front of a wall, with pixels so wide that its depth changes much from one to the next."""
    top, wall = supple.Box((-0.5, -0.5, 0.0), (0.5, 0.5, 0.02)), supple.Box((-3.0, -3.0, -3.0), (-2.9, 3.0, 3.0))
    camera, room = Camera((elevation, 0.0)), np.array([[-0.6, 0.6], [-0.3, 0.3]])
    pieces = [Piece(of_shape(shape), "obstacle") for shape in (top, wall)]
    image = photograph(pieces, camera, room, 0.01, 1.75).pixels
    flat = camera.flat(np.array([[0.0, 0.0, 0.02], [-0.5, 0.0, 0.02]]))
    row, edge = (int((y + 0.3) / 0.01) for y in flat[:, 1])
    assert image[row, image.shape[1] // 2, :3].min() > 0.5
    assert image[edge : edge + 3, image.shape[1] // 2, :3].min() < 0.5


def test_bones_lead_from_joint_to_joint():
    figure = supple.load("ur5")
    skeleton = Skeleton(figure, figure.rest)
    ends = {s: [child for _, child in skeleton.ends[s]] for s in figure.segments}
    assert ends["upper_arm_link"] == ["forearm_link"]
    assert set(ends["wrist_3_link"]) == {"ee_link", "tool0"}
    assert all(piece.colour != "flesh" for piece in skeleton.pieces())


def test_used_range_is_zero_in_the_middle_and_one_at_a_limit():
    figure = supple.load("panda")
    middle = 0.5 * (figure.lower + figure.upper)
    assert_allclose([used_range(figure, middle)[name] for name in figure.coordinates], 0.0, atol=1e-12)
    for limit in (figure.lower, figure.upper):
        assert_allclose([used_range(figure, limit)[name] for name in figure.coordinates], 1.0, atol=1e-12)
    assert used_range(supple.load("human"), supple.load("human").rest)["pelvis.tx"] is None
    assert used_range(figure, figure.upper)["panda_finger_joint2"] == pytest.approx(1.0)


def test_the_ramp_of_colours_has_the_colours_of_its_ends():
    assert_allclose(ramp(0.0), rgb(RAMP[0][1]))
    assert_allclose(ramp(1.0), rgb(RAMP[-1][1]))
    assert_allclose(ramp(7.0), rgb(RAMP[-1][1]))


@pytest.mark.parametrize(("length", "expected"), [(1.0, 1.0), (0.99, 0.5), (0.23, 0.2), (0.0501, 0.05), (730.0, 500.0)])
def test_scale_bars_have_round_lengths(length: float, expected: float):
    assert nice(length) == pytest.approx(expected)


@pytest.mark.parametrize(
    "goal",
    [
        supple.At((0.1, 0.2, 0.3)),
        supple.OnLine((0.1, 0.2, 0.3), (1, 2, 3)),
        supple.OnPlane((0.1, 0.2, 0.3), (1, 2, 3)),
        supple.Beyond((0.1, 0.2, 0.3), (1, 2, 3)),
        supple.Within(supple.place((0.1, 0.2, 0.3), rpy=(0.1, 0.2, 0.3)), box=(0.1, 0.2, 0.05)),
    ],
    ids=lambda goal: type(goal).__name__,
)
def test_the_nearest_place_of_a_goal_is_as_far_as_its_miss(goal):
    X = supple.place((-0.4, 0.5, -0.2))
    anchor = supple.place((0.2, 0.1, -0.3), rpy=(0.5, 0.1, 0.9))
    place = nearest(goal, anchor, X)
    assert place is not None
    assert np.linalg.norm(place - X[:3, 3]) == pytest.approx(goal.miss(np.linalg.inv(anchor) @ X).metres, abs=1e-12)


def test_frames_of_motions_are_drawn_side_by_side_or_refused(tmp_path: Path):
    figure = supple.load("ur5")
    motion = supple.Motion(figure, np.tile(figure.rest, (3, 1)), [0.0, 0.1, 0.2])
    draw_frames([motion, motion], [0, 2], path=tmp_path / "frames.png", dpi=40)
    assert (tmp_path / "frames.png").stat().st_size > 1000
    with pytest.raises(BadValue, match="frames 0 to 2, not 3"):
        draw_frames([motion], [3], path=tmp_path / "no.png")
    with pytest.raises(BadValue, match="same number of frames"):
        draw_frames([motion, motion.frames(1)], path=tmp_path / "no.png")
    with pytest.raises(BadValue, match="pictures are written as"):
        draw_frames([motion], [0], path=tmp_path / "no.txt", dpi=40)
