"""All postures of any arm of six hinges: elimination to a matrix polynomial in one angle, its zeros, kernels, polish."""
