"""Differential steps: linearised tasks in strict order."""
