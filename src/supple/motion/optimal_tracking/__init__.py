"""Optimal tracking: markers in natural coordinates, with closed loops, as in the paper and as a fast path."""
