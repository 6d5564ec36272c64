"""Files in and out: one reader and, where the format can hold a figure or a motion, one writer each."""
