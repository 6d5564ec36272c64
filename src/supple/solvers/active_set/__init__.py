"""The active-set method of Jack, with a variable metric on the face of active limits."""
