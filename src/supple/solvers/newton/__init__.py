"""Newton's method with exact Hessians: the loop, its model at limits, its scratch."""
