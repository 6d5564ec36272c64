"""A scene that is kept in a file, edited step by step, dragged about, undone and drawn: at a table, reaching for a cup."""

from pathlib import Path
from time import perf_counter

import numpy as np

import supple

scene = supple.read_scene(Path(__file__).parent / "scenes" / "table.toml")
print(scene, "with", ", ".join(scene.obstacles))
print(scene.solve().report())

print("\nthe right hand may move", len(scene.chains["cup"]), "coordinates; from the shoulder only:")
scene.change("cup", chain="upper_arm_r")
print("  by itself", len(supple.Problem(scene.figure, [scene.constraints["cup"]]).moved.nonzero()[0]), end=", ")
print("together with the others, which need the back,", len(scene.chains["cup"]))
scene.undo()

scene.drag("cup", (0.78, -0.10, 0.86))  # prepares the query
began = perf_counter()
path = [(0.78, y, 0.86) for y in np.linspace(-0.10, 0.15, 50)]
met = [scene.drag("cup", target).ok for target in path]
print(f"\nthe cup was dragged through {len(path)} places, {sum(met)} of them met,", end=" ")
print(f"{1e3 * (perf_counter() - began) / len(path):.1f} ms each")
print("done so far:", ", ".join(moment.done for moment in scene.history))
scene.undo()  # all of one drag
print("the cup is back at", scene.constraints["cup"].goal.position)

scene.solve()
supple.write(scene, "solved.toml")
print("\nsolved.toml holds the scene in this posture:", supple.read_scene("solved.toml"))
try:
    from supple.view import draw

    draw(scene.figure, scene.q, problem=scene.problem, path="scene.png", view=(14, -60), names=True)
    print("picture: scene.png")
except supple.MissingExtra as missing:
    print(missing)
