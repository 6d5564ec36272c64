"""Other ways to write the same posture: each goes there and comes back."""
