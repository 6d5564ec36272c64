"""BVH: skeletons with motions, read and written."""
