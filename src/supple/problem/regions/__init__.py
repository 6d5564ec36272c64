"""The free space between obstacles, as convex regions."""
