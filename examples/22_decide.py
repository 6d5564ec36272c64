"""Solve or prove: poses that an arm reaches, and poses of which it is proved that it cannot, with the reason."""

import numpy as np

import supple

panda = supple.load("panda")
turns = {"down": (np.pi, 0, 0), "forward": (0, np.pi / 2, 0), "up": (0, 0, 0), "back": (0, -np.pi / 2, 0)}
print(f"{'the hand at (x, 0, 0.5), pointing':34s}" + "".join(f"{name:>12s}" for name in turns))
proofs = []
for x in np.linspace(-0.8, 0.8, 9):
    row = []
    for turn in turns.values():
        solution = supple.solve(panda, {"panda_hand": supple.Placed((x, 0.0, 0.5), rpy=turn)})
        row.append("reached" if solution.ok else solution.status.name.lower())
        proofs += [solution.certificate] if solution.certificate else []
    print(f"x = {x:+.1f} m{'':25s}" + "".join(f"{word:>12s}" for word in row))

print(f"{len(proofs)} proofs, all of which hold: {all(proof.verify(panda) for proof in proofs)}. Two of them:")
for proof in (proofs[0], proofs[3]):
    print("-", proof.explain())
