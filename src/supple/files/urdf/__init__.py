"""URDF: robots, read and written."""
