"""The curves on which an arm of seven hinges moves while its hand stays: seeds by slices, traced, cut by limits."""
