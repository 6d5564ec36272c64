"""Checking certificates, apart from everything that finds them; and what a certificate is.

A certificate says that something is impossible, and holds what somebody needs to see it without trusting the program
that found it. This is its specification: with it, a second checker can be written. This folder is such a checker. It
imports nothing of the search, and no part of the search is believed.

A file holds **what is claimed** and **the dual numbers** of the proof, and nothing else: chains, boxes, frames in the
world, loosened tolerances, faces and scales are derived from the claim. Objects have exactly the fields below; one
more, one less or one twice is refused.

`verify(figure)` is `checked(figure).holds`. **With a figure**, its name, every joint (name, segment, parent, placement,
axis) and every body that the file names must be the figure's, to the last bit; joints that follow others are refused;
and the figure's limits, or the `limits` that are given, must lie within the ranges that the file assumes. **Without a
figure** the proof is checked for the joints in the file, and the report says that nobody has compared these with
anything. A certificate that `solve` made knows its figure and limits, so that its `verify()` checks both. What no check
can know is whether targets, tolerances, obstacles and margins are those that you mean: `certificate.statement` names
all of them.

**The statement.**

Lengths are metres, angles radians. A *placement* is a 4 × 4 matrix of rows, its last row 0, 0, 0, 1. It stands for the
rotation U nearest to its upper left part R and its translation as written; R may be off by no more than ``‖RᵀR − I‖ <
1e-11`` (Frobenius), its determinant is positive, and no translation is 1e9 m or more. All numbers are the binary64
numbers nearest to what is written, taken as exact.

* `format`: `"supple certificate 2"`;
* `figure`: the figure's name;
* `joints`: the joints on all ways that the proof looks at, parents before children: see below;
* `entries`: what is wished, all at once, and what follows from it;
* `margin`, `tolerance`: m and t, not negative: pairs keep apart by m − t;
* `pairs`: what keeps apart;
* `proof`: the tree of boxes.

**A joint**: `name`; `segment`, what it moves, or null; `parent`, the key of the joint above, null for the world; `at`,
the placement of the child in its parent at q = 0; `turn` and `slide`, axes in the child's frame of length one to within
1e-12, at least one of them zero; `lower` and `upper`, the assumed range, null where there is none. Its *key* is its
segment, or its name with a prime. Keys are unique, and so are the names of joints that are not fixed. The child is at
``at · exp``, with a turn by q about the direction of `turn`, or a slide by q along that of `slide`. A parent that no
joint of the file has is a place of which nothing is said: ways may begin there on both sides, but not lead to the
world.

**An entry** is a wish: `kind`, `segment`, `frame` (a placement in it), `seen_from` (another segment, null for the
world), `target`, `tolerance` ε and `angle_tolerance` δ, not negative. With F the frame's placement as `seen_from` sees
it, a posture meets

* a `pose` if the origin of F is within ε of the target's and the angle between both rotations is no more than δ;
* a `point` if the origin of F is within ε of the target's;
* an `axis` if it is, and the angle between the z axes of both is no more than δ.

Or it is `known` and `through`, the numbers of two earlier entries: the first a pose in the world, with frame F₁ of
segment a, target T₁, ε₁, δ₁; the second a pose or point seen from a, with target T₂, ε₂, δ₂. It says of the second's
frame that it is in the world at ``T₁ F₁⁻¹ T₂``, to within ``ε₁ + δ₁ |t₂ − f₁| + ε₂`` and ``δ₁ + δ₂``, t and f being
translations. That is how closed loops are used: a loop is a wish of one end seen from the other.

**A pair**: `bar` and `other`, each with `segment`, `number` and `shape`. A bar is the solid of that number of a
segment, a ball or a capsule. The other is one too, or, with the segment null, an obstacle in the world whose `number`
is its name; one name has one shape. Shapes, in the frame of the segment or the world, have a `kind`: `ball` (`centre`,
`radius`), `capsule` (`radius`, `length`, `at`: around a line on the z axis, centred), `box` (`lower`, `upper`, `at`),
`polytope` (`A`, `b`: all x with ``A x ≤ b``). A pair keeps apart if the distance between the bar's core (its centre or
line) and the other's solid, or core less its radius, negative inside, is no less than the bar's radius + m − t.

**The claim**: no posture of these joints within these ranges meets all wishes and keeps all pairs apart.

**The box.**

Unknowns are the joints that are not fixed and whose lower limit is below the upper, in the order of the file, then one
free turn for each `axis`, in the order of entries. Turns whose range is not less than 2π, and free turns, have from −π′
to π′, π′ the binary64 number next above π; all others their range. The `proof` is a list, a tree in preorder: a cut
(`joint`, the number of an unknown, and `at`, strictly inside its range) is followed by the tree of what lies below and
then by that of what lies above. Every other node must prove its box empty.

**Chains.**

The way to a segment, from the world or another segment, leads up from there to the first common joint and down again.
Passing a joint downwards is ``at · motion``, upwards ``motion⁻¹ · at⁻¹``. A joint whose range is one value is a fixed
motion. Every other one is brought to its z axis by a rotation V: ``V = (y z x)``, ``(x −z y)`` or 1 (columns) for axes
along ±x, ±y, ±z, with s the sign; otherwise ``V = (x, a × x, a)``, x the direction of ``e × a``, e the coordinate axis
that a is farthest from (the first of equals), s = 1; passed upwards, s changes sign. So the chain is

    B₁ M(s₁q₁) B₂ M(s₂q₂) … M(s_n q_n) E,

M about or along z, with ``V`` at the end of the B before its joint and ``Vᵀ`` at the beginning of what follows. For a
wish, a chain of fewer than four joints is given joints that stand still, the first behind all fixed parts, the others
at the same place, and E is the frame; then for an `axis` comes its free turn, before it the frame, behind it nothing.
No more than 8 joints are left. The *reach* ρ is the sum of ``|translation|`` of all B and E and the largest ``|limit|``
of all slides, 1 if that is 0; lengths are multiplied by 2/ρ. (Rounding in V and ρ does not matter: they only choose
coordinates.)

**A leaf.**

`claim`, the number of an entry; `start`; `grams`, matrices G; `symmetric` Λ (8 × 8), `kernel` N (rows × 8, up to 8),
`facial` Ω (rows × 2^k), of poses and axes; `linear` λ (4), of points. What is not used may be anything of the allowed
sizes.

**Moments.** Of a joint with the range [a, b], c = (a + b)/2, half-width w: a turn with w < π − 1e-9 is *limited*, ``g =
max(1e-9, (1 + 1e-12) sin(w/2))``; others have g = 1; of a slide ``g = max(1e-9, (1 + 1e-12) w/ρ)``, always limited. The
checker makes sure that ``g ≥ sin(w/2)`` or w/ρ. With x = q − c, ``h = (cos(x/2), sin(x/2)/g)``, ``u = sin²(x/2)/g²``,
``v = sin x/(2g)``, or ``h = (1, x/(ρg))``, ``u = (x/(ρg))²``, ``v = x/(ρg)``; then ``hhᵀ = [[1 + κu, v], [v, u]]`` with
κ = −g², or 0. Since ``0 ≤ u ≤ 1``, ``|v| ≤ 1``, products of 1, u, v of several joints are no larger than 1.

**Arcs.** The chain closed over its target, with joints numbered round from `start`: arc A is the first three, arc B the
others, in this order. The Kronecker product of an arc's h is h_A or h_B, of 2^k numbers, first joint slowest. As dual
quaternions (w x y z of the rotation, then of half the translation times the rotation; the largest component of a
rotation positive), with D_j the placement B_j moved by s_j c_j,

* L_A h_A is the product of A's joints: D of its first joint left out;
* L_B h_B is the conjugate of ``(B's joints behind A) E T⁻¹ (B's joints before A) D_first``.

A turn's factor is ``h₁ + s g h₂ k``, a slide's ``h₁ + ε s g h₂ k``. The loop closes if ``L_A h_A = ± L_B h_B``.

**The number.** One G for each block: of A the whole (2^3 rows), then for each limited joint of A, in order, one with
2^2 rows; the same for B. Columns are no more than rows. Then

    Σ = h_Aᵀ(G₀G₀ᵀ + L_AᵀΛL_A)h_A + h_Bᵀ(G₁G₁ᵀ − L_BᵀΛL_B + sym(L_BᵀNᵀΩ))h_B + Σ_j (1 − u_j) hᵀG_jG_jᵀh,

h in the last without joint j, Λ taken symmetric, is written as a linear form in the moments of A and of B. Its constant
plus the absolute values of all other coefficients is −β. A leaf holds if β > 1e-50 and β is more than what tolerances,
each widened by 1e-12, can make of it: the inequality that is derived at the top of `proofs/checker/slack.py`. It needs
144 matrices to be positive definite.

**Points.** `start` is 0. With ``w_A`` the target as A's three joints see it and ``w_B`` the point as B's carry it,
``λ·(w_A − w_B, |w_A|² − |w_B|²)`` is linear in the moments (`proofs/checker/points.py`) and is added to the squares of
G instead. β must be more than ``|λ₁₂₃| ε + |λ₄| (2fε + ε²)``, in the chain's unit, f the smaller of both arcs' lengths,
with those to the target and of E.

**A crash.**

`pair`, its number; `along`, a point of the bar's core on its z axis, within its half-length; `near`, a point of the
other solid as that sees it, or null: the bar's point is inside; `given`, the number of an entry that is a pose in the
world, or −1. With −1 the way leads from the other thing's segment, or the world. Otherwise the other is an obstacle,
and the way leads from the entry's segment, which is at ``T F⁻¹``. With w where the bar's point is in the middle of the
box, its distance s from the solid and r how far it can get from there,

    s + r + (ε + δ ℓ) + 1e-12 < radius + m − t (+ the other's radius),

``r ← r + 2 sin(α/2)(d + r)`` from the last joint to the first (half-width α, d the distance of w from the axis; 2 for α
≥ π; a slide adds its half-width), ℓ the sum of all lengths on the way back, the frame's and the core's included, and s
the largest ``n_i·w − b_i`` over faces of unit normals if w is inside all, or ``|w − near|`` if `near` is inside all
faces. Of a ball or capsule the point of its core nearest to `near` is taken.

**A pull.**

`entries`, numbers of entries, of any number of joints; for each `forces` λ (3) and `turns` N (3 × 3); for each unknown joint,
in their order, `forms` Φ (4 × 4, taken symmetric), `limits` G (4 rows) and `skews` (4 × 4, whose skew part is Ω). With
tolerances widened by 1e-12, the bound at the root, the constants of all targets and what tolerances can make of them must
be below zero together, and every matrix on the way positive definite: the inequalities at the top of
`proofs/checker/pull_bounds.py`. Joints beyond which nothing is pulled are not looked at, and entries begin at one root.

**What is bounded.**

Before anything is computed:

* characters of the text: no more than 200,000,000;
* characters of a number; of a name: no more than 32; 1,000;
* size of a number: no more than 1e50;
* joints; entries; pairs; faces of a polytope: no more than 10,000; 100; 10,000; 500;
* nodes of the tree; cuts to one box: no more than 200,001; 200;
* rows and columns of a matrix in a proof: no more than 32;
* joints of a wish's chain; of a way between two things: no more than 8; 64.

There is neither `true` nor `NaN`; nesting is that of the fields. Boxes are checked one after the other, and the first
that is not seen to be empty ends it. An honest box costs some milliseconds.

**What is computed how.**

Everything above is evaluated in ball arithmetic with 80 bits, from placements on, but for two things in binary64, each
with a bound that is derived where it stands and tested against balls: how far a matrix is from a rotation
(`proofs/checker/balls.py`), and whether the 144 matrices are positive definite (`proofs/checker/slack.py`). The latter
would be spoilt by numbers so small that their squares vanish, hence the bounds 1e50 and 1e-50.

`tests/proofs/checker/test_forgeries.py` holds a forgery for every field, and 10,000 random changes of honest
certificates: those that still verify are judged by a search.
"""
