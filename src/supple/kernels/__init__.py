"""Kernels: everything compiled that reads a pack.

A *pack* is two flat arrays, whole numbers and floats, that stand for a figure or a problem; *scratch* is memory that a kernel
writes and nobody keeps. `compiling` says how kernels are compiled, `algebra` is dense numerics that know no pack. Nothing
here is public.
"""
