"""C3D: markers as cameras saw them, read and written."""
