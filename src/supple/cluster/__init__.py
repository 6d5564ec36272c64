"""Archives of recordings on many processes: the same job for thousands of files, on this machine or a Dask cluster.

A *job* turns one file into another: `Track`, `Fit`, `Retarget`, `Convert`, or anybody's own. `map` does it for all files of an
archive and keeps a *manifest*, one line for each file, from which an archive that was interrupted goes on.
"""

from typing import TYPE_CHECKING

from supple import lazily

if TYPE_CHECKING:
    from supple.cluster.archive import Archive as Archive, map as map
    from supple.cluster.jobs import Convert as Convert, Fit as Fit, Retarget as Retarget, Told as Told, Track as Track
    from supple.cluster.manifest import Entry as Entry, read_manifest as read_manifest
    from supple.cluster.stored import Stored as Stored, solve_stored as solve_stored

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "archive": ["Archive", "map"],
        "jobs": ["Convert", "Fit", "Retarget", "Told", "Track"],
        "manifest": ["Entry", "read_manifest"],
        "stored": ["Stored", "solve_stored"],
    },
)
