"""Solvers: one algorithm, one file. Each is a frozen record of settings with one method, ``solve(problem, start)``."""
