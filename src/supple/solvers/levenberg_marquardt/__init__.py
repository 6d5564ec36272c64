"""The default: Levenberg–Marquardt from many starts, rank by rank, compiled as one search."""
