"""Basics: what every room stands on: checks of what comes in, values, how files are written, how long jobs are ended."""
