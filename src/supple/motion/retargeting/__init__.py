"""The pieces of `supple.retarget`: names, matching, rest poses, contacts, the way of the feet, solving and the report."""
