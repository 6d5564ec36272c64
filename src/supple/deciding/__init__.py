"""Solve or prove: relaxations of a chain's closure, and certificates that no posture reaches a pose."""
