"""A figure made to measure, from markers."""
