"""One differential step of tasks in strict order."""
