"""A lean search for batches on a GPU: damped steps that are never taken back, from many starts, until one arrives.

`shape` says what it takes, `lean_leaves` what it evaluates, `loops` how a GPU runs it; `batch.Batch` is its door. The leaves
are plain Python: tests run them here, compiled or not.
"""
