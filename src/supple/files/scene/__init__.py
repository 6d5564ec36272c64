"""Scene files: TOML in which a figure, goals and surroundings are written down."""
