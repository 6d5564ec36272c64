"""Rigs of animation programs: glTF, VRM, FBX, USD."""
