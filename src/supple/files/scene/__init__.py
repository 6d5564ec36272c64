"""Scene files: TOML or JSON in which a figure, goals and surroundings are written down.

Lengths are metres and angles radians; wherever an angle is meant, text such as ``"30deg"`` does as well. Names of
coordinates may be those of joints or segments, or patterns such as ``"T*.bending"``. Only `version` and `figure` must be
there. The fields of a file:

* `version`: 1;
* `figure`: a name of the catalogue; or a table with `name`, or with `file` (a path from the scene file's folder), and the
  options of `supple.load`; it may say where it stands, ``at = PLACEMENT``, and ``free = true`` lets it float there. Several in
  one world are a list, all but the first with a `prefix` for their names;
* `posture`: values by coordinate; the others are at rest;
* `rigidity`: numbers from 0 to 1 by coordinate;
* `limits`: `lower` and `upper`, values by coordinate in place of the figure's own, ``"none"`` for no limit; `rows`, a list of
  ``{ coefficients = { coordinate = number, … }, upper = number }``, or with `equal`, in place of the figure's own rows;
* `constraints`: a list of tables, see below;
* `obstacles`: by name one of ``ball = { centre, radius }``, ``box = { lower, upper, at }``, ``capsule = { radius, length, at
  }`` or ``capsule = { radius, start, end }``, ``polytope = { A, b }``, ``half_space = { point, normal }``;
* `solids`: by segment a list of `ball` and `capsule`, in the segment's axes: what it keeps clear of things with, in place of
  its own shapes;
* `clearance`: `margin`, `itself`, `ignoring` (a list of pairs of names), `preferred`, ``uncovered = "ignore"``.

**A constraint** has a `name` (a line of text), an `effector` (but for `near`, and where
the goals of `any_of` bring theirs) and a `goal`; it may have a `weight` (1),
`tolerance` (1e-5 m), `angle_tolerance` (1e-4 rad), `hard` and `preference` (false), `enabled` (true), `chain` (a segment, or
a list of joints; the whole way from the root) and a `priority` (0).

**An effector** is the name of a segment, for its frame, or one of

* ``{ point = segment, offset = [x, y, z] }``, ``{ direction = segment, axis = [x, y, z], offset = [x, y, z] }``,
* ``{ frame = segment, at = PLACEMENT }``, ``{ mass_centre = true }``, ``{ gap = [EFFECTOR, EFFECTOR] }``.

**A goal** is one of these; all but the last two may have `relative_to`, those with angles `per_radian`:

* ``{ at = [x, y, z] }``, ``{ aimed_at = [x, y, z] }``, ``{ placed = PLACEMENT }``;
* ``{ on_line = { point, along } }``, ``{ on_plane = { point, normal } }``, ``{ beyond = { point, normal } }``;
* ``{ aligned = { position, x, y } }``, one axis or both, with `weights` of position and orientation;
* ``{ facing = [x, y, z] }``, ``{ facing = { x, y } }``, ``{ facing = ROTATION }``;
* ``{ within = { at = PLACEMENT, box, tilt } }``, `box` and `tilt` one number, three, or two corners;
* ``{ over = [[x, y], …] }``, with a `margin`;
* ``{ outside = { box = … } }``, ``{ outside = { polytope = … } }``, the solid as an obstacle is written, with a `margin`;
* ``{ any_of = [GOAL, …] }``, each of its goals with or without a `weight` and an `effector` of its own;
* ``{ near = { coordinate = value, … } }``, at rest otherwise, with `weights`: a number, or by coordinate, 0 otherwise.

A ROTATION is a table with one of `quat_wxyz`, `quat_xyzw`, `matrix` (three rows) and `rpy`. A PLACEMENT is a position ``[x, y,
z]``, a matrix of four rows, or a table with a `position` and a ROTATION's field. `Custom` goals have no form in a file, and
neither have figures that were made or edited in Python: the message lists everything that stands in the way. Numbers are
written in full, so that what is read has the same bits. The history of a scene is not kept.
"""
