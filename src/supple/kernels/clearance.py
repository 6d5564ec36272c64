"""How far a bar is from a solid, and how that changes when the bar moves.

A *bar* is all points within a radius of its *core*, a line of half-length h on the z axis of a frame X, centred at the
frame's origin c (h = 0: a ball). With u the frame's z axis the core is ``c + t u``, ``|t| ≤ h``. A *solid* stands in the
frame in which X is seen. It is stored flat (`solids`), from a given place of an array on:

    number of faces m, number of edges k, radius, 0
    m × (unit normal n pointing out, offset b):          n·x ≤ b
    k × (point g, unit direction e, t0, t1):             g + τ e, t0 ≤ τ ≤ t1, which may be infinite
    if m > 0, k × (first face, second face):             e is along n_first × n_second

A solid without faces has one edge: it is the bar of radius `radius` about that edge, a ball or a capsule. One with faces
is a convex polyhedron, bounded or not, all points within `radius` of it included (0: sharp).

**Outside.** Let p on the core and x in the polyhedron be nearest to each other, ``d = p − x ≠ 0``. Every corner lies on
an edge, so x is inside a face or on an edge.

* On an edge: the distance is that of core and edge. Since d is a sum of the normals at x with coefficients ≥ 0, p is
  beyond a face that ends in x; so only edges of faces that some of the core is beyond need to be looked at.
* Inside face i: d is along n_i. If p is not an end of the core, d is also perpendicular to u, so the core is parallel to
  the face, and p and x may slide along it together until p is an end or x is on an edge. So p can be taken as an end
  whose foot on the face's plane is in the polyhedron. Then ``n_j·p − b_j ≤ d n_j·n_i ≤ d`` for every face j: of all
  faces, i is the one that this end is farthest beyond, and no other face needs to be looked at.

The distance is the least of these few. A core that pierces a face is not outside.

**Inside.** Where core and polyhedron meet, the distance is minus the length of the shortest push that parts them. They
are parted by the core leaving a face, or by sliding over an edge that crosses it: the faces of the sum of the polyhedron
and the reversed core have the normals n_i, and ``±u × e`` for edges whose faces the line of the core enters through one
and leaves through the other, ``(u·n_first)(u·n_second) ≤ 0``. Along each, the depth is how far the core reaches behind
the face or the edge. So the distance has no jump at zero.

**Slope.** With the unit direction n from the solid to the bar and the witness w, the nearest point of the core (inside:
the deepest), a twist (ω, v) of X changes the distance by ``n·(ω × w + v)``: the nearest points themselves move along the
surfaces, which changes nothing to first order. Where the nearest point jumps, the distance has a kink and one of the
slopes is given.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import leaf, stage

HEAD, FACE, EDGE = 4, 4, 8  # numbers before the tables, of a face, of an edge
TOUCH = 1e-9  # nearer than this [m] the difference of two points is no direction
PARALLEL = 1e-20  # squared sine of the angle below which two lines are parallel
ROUNDING = 1e-12  # how much longer than a lower bound a distance may be and be taken at once [m]


@leaf
def level(S: Any, a: int, x0: float, x1: float, x2: float) -> float:
    """``n·x`` for the normal that begins at a."""
    return S[a] * x0 + S[a + 1] * x1 + S[a + 2] * x2


@leaf
def tables(S: Any, s: int) -> Any:
    """Where the faces, the edges and the pairs of faces of the solid at S[s] begin."""
    edges = s + HEAD + FACE * int(S[s])
    return s + HEAD, edges, edges + EDGE * int(S[s + 1])


@leaf
def nearest(X: Any, h: float, S: Any, a: int) -> Any:
    """The parameters t and τ of the nearest points of the core and of the edge that begins at a.

    Across e, both lines are seen as ``v t + w``: exact however small the angle between them. The least of a convex function
    of two variables over a rectangle: clip one, then the other to what it should be, then the first again.
    """
    e0, e1, e2 = S[a + 3], S[a + 4], S[a + 5]
    r0, r1, r2 = X[0] - S[a], X[1] - S[a + 1], X[2] - S[a + 2]
    b = X[9] * e0 + X[10] * e1 + X[11] * e2
    f = r0 * e0 + r1 * e1 + r2 * e2
    v0, v1, v2 = X[9] - b * e0, X[10] - b * e1, X[11] - b * e2
    vv = v0 * v0 + v1 * v1 + v2 * v2
    t = 0.0
    if vv > PARALLEL:
        t = -(v0 * (r0 - f * e0) + v1 * (r1 - f * e1) + v2 * (r2 - f * e2)) / vv
        t = min(max(t, -h), h)
    tau = min(max(f + b * t, S[a + 6]), S[a + 7])
    t = min(max(b * tau - (X[9] * r0 + X[10] * r1 + X[11] * r2), -h), h)
    return t, tau


@leaf
def apart(X: Any, t: float, S: Any, a: int, tau: float) -> Any:
    """From the point τ of the edge at a to the point t of the core."""
    d0 = X[0] + t * X[9] - S[a] - tau * S[a + 3]
    d1 = X[1] + t * X[10] - S[a + 1] - tau * S[a + 4]
    d2 = X[2] + t * X[11] - S[a + 2] - tau * S[a + 5]
    return d0, d1, d2


@leaf
def write_witness(X: Any, t: float, n0: float, n1: float, n2: float, out: Any) -> None:
    """Write the direction and the witness, the point t of the core."""
    out[0], out[1], out[2] = n0, n1, n2
    for i in range(3):
        out[3 + i] = X[i] + t * X[9 + i]


@leaf
def across(X: Any, S: Any, a: int) -> Any:
    """The unit vector along ``u × e``, e the direction of the edge at a; zeros if they are parallel."""
    n0 = X[10] * S[a + 5] - X[11] * S[a + 4]
    n1 = X[11] * S[a + 3] - X[9] * S[a + 5]
    n2 = X[9] * S[a + 4] - X[10] * S[a + 3]
    square = n0 * n0 + n1 * n1 + n2 * n2
    scale = 1.0 / math.sqrt(square) if square > PARALLEL else 0.0
    return scale * n0, scale * n1, scale * n2


@leaf
def side(X: Any, S: Any, first: int, second: int) -> float:
    """1 if ``u × e`` points out of the edge between two faces, −1 if its opposite does, 0 if neither."""
    a, b = level(S, first, X[9], X[10], X[11]), level(S, second, X[9], X[10], X[11])
    if a <= 0.0 and b >= 0.0:
        return 1.0
    return -1.0 if a >= 0.0 and b <= 0.0 else 0.0


@leaf
def round_gap(S: Any, s: int, X: Any, h: float, out: Any) -> float:
    """From the edge of a solid without faces to the core."""
    a = s + HEAD
    t, tau = nearest(X, h, S, a)
    d0, d1, d2 = apart(X, t, S, a, tau)
    length = math.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
    if length > TOUCH:
        n0, n1, n2 = d0 / length, d1 / length, d2 / length
    else:
        n0, n1, n2 = across(X, S, a)
        if n0 == 0.0 and n1 == 0.0 and n2 == 0.0:
            n0, n1, n2 = X[3], X[4], X[5]
    write_witness(X, t, n0, n1, n2, out)
    return length


@leaf
def scan(S: Any, s: int, X: Any, h: float) -> Any:
    """The face that parts core and solid most and by how much (below 0: not at all), and whether they meet."""
    parted, face = -math.inf, 0
    enter, leave = -h, h
    for i in range(int(S[s])):
        a = s + HEAD + FACE * i
        middle = level(S, a, X[0], X[1], X[2]) - S[a + 3]
        slope = level(S, a, X[9], X[10], X[11])
        rise = abs(slope) * h
        if middle - rise > parted:
            parted, face = middle - rise, i
        if middle - rise <= 0.0 < middle + rise:
            if slope > 0.0:
                leave = min(leave, -middle / slope)
            else:
                enter = max(enter, -middle / slope)
    return parted, face, parted <= 0.0 and enter <= leave


@leaf
def over_face(S: Any, s: int, X: Any, t: float) -> Any:
    """How far the point t of the core is beyond its farthest face; that face; whether its foot there is in the solid.

    An end of a core that is outside is beyond some face, or to within rounding on it.
    """
    p0, p1, p2 = X[0] + t * X[9], X[1] + t * X[10], X[2] + t * X[11]
    beyond, face, faces = -math.inf, 0, s + HEAD
    for i in range(int(S[s])):
        a = faces + FACE * i
        x = level(S, a, p0, p1, p2) - S[a + 3]
        if x > beyond:
            beyond, face = x, i
    b = faces + FACE * face
    for i in range(int(S[s])):
        a = faces + FACE * i
        if i != face and level(S, a, p0, p1, p2) - beyond * level(S, a, S[b], S[b + 1], S[b + 2]) > S[a + 3]:
            return beyond, face, False
    return beyond, face, True


@leaf
def crosses(S: Any, a: int, X: Any, h: float) -> bool:
    """Whether some of the core is beyond the face at a."""
    rise = abs(level(S, a, X[9], X[10], X[11])) * h
    return level(S, a, X[0], X[1], X[2]) + rise > S[a + 3]


@leaf
def edge_direction(S: Any, first: int, second: int, edge: int, X: Any, h: float, t: float, tau: float) -> Any:
    """From the point τ of an edge to the point t of the core, as a unit vector even if they touch."""
    d0, d1, d2 = apart(X, t, S, edge, tau)
    length = math.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
    if length <= TOUCH:
        sign = side(X, S, first, second) if h > 0.0 else 0.0
        d0, d1, d2 = across(X, S, edge)
        d0, d1, d2 = sign * d0, sign * d1, sign * d2
        length = math.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
        if length == 0.0:
            d0, d1, d2 = S[first] + S[second], S[first + 1] + S[second + 1], S[first + 2] + S[second + 2]
            length = math.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
    return d0 / length, d1 / length, d2 / length


@leaf
def outer_gap(S: Any, s: int, X: Any, h: float, parted: float, out: Any) -> float:
    """From a polyhedron to a core outside it; no face parts them by more than `parted`."""
    faces, edges, pairs = tables(S, s)
    best = math.inf
    for k in range(2 if h > 0.0 else 1):
        t = h if k == 0 else -h
        beyond, face, above = over_face(S, s, X, t)
        if above and beyond < best:
            a = faces + FACE * face
            best = beyond
            write_witness(X, t, S[a], S[a + 1], S[a + 2], out)
    if best <= parted + ROUNDING:
        return best
    square, near, at, along = best * best, -1, 0.0, 0.0
    for k in range(int(S[s + 1])):
        first, second = faces + FACE * int(S[pairs + 2 * k]), faces + FACE * int(S[pairs + 2 * k + 1])
        if crosses(S, first, X, h) or crosses(S, second, X, h):
            t, tau = nearest(X, h, S, edges + EDGE * k)
            d0, d1, d2 = apart(X, t, S, edges + EDGE * k, tau)
            if d0 * d0 + d1 * d1 + d2 * d2 < square:
                square, near, at, along = d0 * d0 + d1 * d1 + d2 * d2, k, t, tau
    if near < 0:
        return best
    first, second = faces + FACE * int(S[pairs + 2 * near]), faces + FACE * int(S[pairs + 2 * near + 1])
    n0, n1, n2 = edge_direction(S, first, second, edges + EDGE * near, X, h, at, along)
    write_witness(X, at, n0, n1, n2, out)
    return math.sqrt(square)


@leaf
def inner_gap(S: Any, s: int, X: Any, h: float, parted: float, face: int, out: Any) -> float:
    """Minus the shortest push that parts a polyhedron and a core that meets it; `face` allows the push −`parted`."""
    faces, edges, pairs = tables(S, s)
    a = faces + FACE * face
    t = -h if level(S, a, X[9], X[10], X[11]) > 0.0 else h
    write_witness(X, t, S[a], S[a + 1], S[a + 2], out)
    for k in range(int(S[s + 1]) if h > 0.0 else 0):
        first, second = faces + FACE * int(S[pairs + 2 * k]), faces + FACE * int(S[pairs + 2 * k + 1])
        sign = side(X, S, first, second)
        if sign != 0.0:
            a = edges + EDGE * k
            n0, n1, n2 = across(X, S, a)
            d = sign * (n0 * (X[0] - S[a]) + n1 * (X[1] - S[a + 1]) + n2 * (X[2] - S[a + 2]))
            if d > parted and n0 * n0 + n1 * n1 + n2 * n2 > 0.5:
                parted = d
                t, _ = nearest(X, h, S, a)
                write_witness(X, t, sign * n0, sign * n1, sign * n2, out)
    return parted


@leaf
def least(S: Any, s: int, X: Any, h: float) -> float:
    """A lower bound of the distance that is quickly found: from centre to centre, or to the farthest of the faces."""
    bound, a = -math.inf, s + HEAD
    if S[s] == 0.0:
        r0, r1, r2 = X[0] - S[a], X[1] - S[a + 1], X[2] - S[a + 2]
        bound = math.sqrt(r0 * r0 + r1 * r1 + r2 * r2) - h - max(abs(S[a + 6]), abs(S[a + 7]))
    for i in range(int(S[s])):
        a = s + HEAD + FACE * i
        rise = abs(level(S, a, X[9], X[10], X[11])) * h
        bound = max(bound, level(S, a, X[0], X[1], X[2]) - S[a + 3] - rise)
    return bound - S[s + 2]


@stage
def exact_gap(S: Any, s: int, X: Any, h: float, out: Any) -> float:
    """The signed distance, direction and witness; NaN if X is."""
    sound = X[0] + X[1] + X[2] + X[9] + X[10] + X[11]
    if not abs(sound) < math.inf:
        return math.nan
    if S[s] == 0.0:
        return round_gap(S, s, X, h, out) - S[s + 2]
    parted, face, meet = scan(S, s, X, h)
    if meet:
        return inner_gap(S, s, X, h, parted, face, out) - S[s + 2]
    return outer_gap(S, s, X, h, parted, out) - S[s + 2]


@leaf
def gap(S: Any, s: int, X: Any, h: float, enough: float, out: Any) -> float:
    """The signed distance [m] from the solid at S[s] to the core of half-length h of a bar at X; NaN if X is.

    Writes the direction (out[0:3]) and the witness (out[3:6]). As soon as the distance is known to be above `enough`,
    a lower bound that is above it is returned, and `out` means nothing.
    """
    bound = least(S, s, X, h)
    return bound if bound > enough else exact_gap(S, s, X, h, out)
