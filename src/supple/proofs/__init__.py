"""Proofs: claims that no posture exists, relaxations that refute them, certificates that anybody can check.

A *claim* says that a chain brings a frame to a target; a *relaxation* refutes it in a box of joint ranges; a *certificate*
holds all boxes and the numbers that prove each one empty.
"""

from typing import TYPE_CHECKING

from supple import lazily

if TYPE_CHECKING:
    from supple.proofs.certificate import Certificate as Certificate
    from supple.proofs.certificates import Certificates as Certificates
    from supple.proofs.completeness import Completeness as Completeness

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "certificate": ["Certificate"],
        "certificates": ["Certificates"],
        "completeness": ["Completeness"],
    },
)
