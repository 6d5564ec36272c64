"""Relaxations of a chain's closure in moments, and the interior-point method that refutes them."""
