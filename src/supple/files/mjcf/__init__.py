"""MJCF files, through MuJoCo's own compiler."""
