"""Other people's solvers, each run in an environment of its own on the same jobs."""
