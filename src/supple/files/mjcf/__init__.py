"""MJCF files in, through the compiler of MuJoCo."""
