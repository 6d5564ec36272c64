"""Methods to compare with: Jacobian transpose, pseudo-inverse, damped least squares, CCD, FABRIK."""
