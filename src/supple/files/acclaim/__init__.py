"""Acclaim: ASF skeletons and AMC motions."""
