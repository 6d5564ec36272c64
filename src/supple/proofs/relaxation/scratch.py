"""The scratch of a relaxation, as kernels see it: views of the floats of its pack (`packing`)."""

from __future__ import annotations

from typing import Any, NamedTuple

from supple.kernels.opening import opener
from supple.proofs.relaxation.packing import RELAXATION


class UnknownsScratch(NamedTuple):
    """The unknowns of a semidefinite program, and how moments are tied to them (see `semidefinite_blocks`)."""

    report: Any
    base: Any  # (moments) y₀; of what is free 0
    D: Any  # tables of TIED rows, the last of UNKNOWNS, of STRIDE numbers each
    G: Any
    H: Any
    z: Any  # (moments) the unknowns, the last of them t
    dz: Any
    rhs: Any
    inward: Any
    y: Any
    weight: Any
    panel: Any  # (4, moments)


class MatricesScratch(NamedTuple):
    """The blocks of a program."""

    X: Any  # (entries)
    S: Any
    inverse: Any  # of S
    dX: Any
    dS: Any
    correction: Any  # what the corrector takes off, symmetric
    one: Any  # (largest order²) matrices of one block
    two: Any


class FoldingScratch(NamedTuple):
    """What leads from moments to blocks and back."""

    coefficient: Any  # (terms)
    V: Any  # (width, width) the basis of the face, its columns the first
    Vt: Any  # the same, transposed
    wide: Any  # (largest order²) arc B's whole before it is seen on its face, or after
    other: Any
    half_folded: Any
    columns: Any  # (largest order³)
    widened_rows: Any
    full: Any  # (moments, moments) H̃


class EquationScratch(NamedTuple):
    """The equations (see `elimination`)."""

    E: Any  # (rows, moments) as they are
    W: Any  # (rows, moments) eliminated: constants, then moments
    taken: Any  # (moments, rows) the columns that were taken out of W, as they were
    multiplier: Any  # (rows)


class ArcScratch(NamedTuple):
    """The matrices of both arcs, turned (see `equations`)."""

    Q: Any  # (8, 8)
    turned: Any  # (8, width of A) Q L_A
    L: Any  # (8, width) Q L_B
    K: Any  # (8, width) N L_B
    spare: Any  # (8, 8)
    outer: Any  # (entries of a whole block, pairs) their products
    pairs: Any  # (moments, pairs) the equations of all pairs of rows


class LoopScratch(NamedTuple):
    """A chain's fixed parts and where its joints are, with its target; and the products of them (see `arcs`)."""

    fixed: Any  # (joints + 1, 8) before each joint, and behind the last
    target: Any  # (8)
    half: Any  # (joints) of the coordinate in the middle of each range, with the joint's sign
    g: Any  # (joints) with the joint's sign
    slides: Any  # (joints) 1 or 0
    scale: Any  # (1) of lengths
    parts: Any  # (joints, 8)
    spare: Any  # (2, 8)
    A: Any  # (2^a, 8) the columns of L_A
    B: Any  # (2^b, 8) the columns of L_B


open_unknowns = opener(UnknownsScratch, RELAXATION)
open_matrices = opener(MatricesScratch, RELAXATION)
open_folding = opener(FoldingScratch, RELAXATION)
open_equations = opener(EquationScratch, RELAXATION)
open_arcs = opener(ArcScratch, RELAXATION)
open_loop = opener(LoopScratch, RELAXATION, half="HALF_MIDDLE", g="SIGNED_G", spare="TWO_SPARE")
