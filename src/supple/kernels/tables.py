"""The tables of a problem, as kernels see them: views into a pack.

Kernels that are merged into their callers take these views; the large ones take the pack and open what they need.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from supple.kernels.layouts import PROBLEM, TREE
from supple.kernels.opening import opener


class Tasks(NamedTuple):
    """A problem's terms."""

    task: Any  # (tasks + 1) where the alternatives of each task begin
    alternative: Any  # (alternatives + 1) where the terms of each alternative begin
    term: Any  # (terms, FIELDS)
    path: Any  # joints of relative terms, in walking order, as 1 + joint, negative on the reference's side
    number: Any  # (terms, TERM) frames, weights and parameters
    mass: Any  # (n + 1, 4) mass fraction and first moment of each row, or nothing
    near: Any  # (posture terms, size) weights
    solid: Any  # the numbers of all solids (see `clearance`)


class Terms(NamedTuple):
    """Of a problem's terms, what steps look at."""

    term: Any
    number: Any
    near: Any


class Routes(NamedTuple):
    """Which coordinates move what a term sees (see `routes`)."""

    first: Any  # (routes + 1) where the links of each route begin
    begin: Any  # (routes + 1) where its columns begin
    link: Any  # (links, LINK)
    column: Any  # coordinates
    prefix: Any  # (routes, routes) leading columns that two routes share
    second: Any  # (routes · routes + 1) where the further shared columns of two routes begin
    extra: Any  # (pairs, 2) their positions in both


class Allowed(NamedTuple):
    """The limits."""

    lower: Any
    upper: Any
    mobility: Any  # (size) how willingly each coordinate moves; 0: not at all
    equalities: Any  # how many of the linear limits are equalities; these come first
    A: Any  # (linear limits, size) of unit length
    b: Any


class Charts(NamedTuple):
    """The charts of unlimited balls and free roots."""

    joint: Any  # the first joint of each
    home: Any  # (charts, 9) the rotation of its original offset


STEEP = 0.5  # β below which a chart is re-centred: its axes are 60° from perpendicular
EXACT = 1e-12  # an error [rad] that no tolerance notices

open_tasks = opener(Tasks, PROBLEM)
open_terms = opener(Terms, PROBLEM)
open_routes = opener(Routes, PROBLEM, **{name: f"ROUTE_{name.upper()}" for name in Routes._fields})
open_limits = opener(Allowed, PROBLEM)
open_charts = opener(Charts, TREE, joint="CHART")
