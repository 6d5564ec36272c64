"""Convex inverse kinematics: lifted variables, their relaxation, and rank minimisation."""
