"""The equalities of an MJCF model: between joints they are drives, between bodies or sites loops."""

from __future__ import annotations

from supple.figure.drives import Drive, mimic
from supple.figure.figure import Loop
from supple.files.mjcf.compiled import Model
from supple.geometry.placements import place


def equalities_of(model: Model) -> tuple[dict[int, Drive | float], list[Loop]]:
    """Drives by joint (a number: the joint never moves from that value), and loops."""
    m, kinds = model.tables, model.api.mjtEq
    drives: dict[int, Drive | float] = {}
    loops: list[Loop] = []
    names = model.equalities
    for e in range(m.neq):
        kind = int(m.eq_type[e])
        if not m.eq_active0[e]:
            continue
        if kind == kinds.mjEQ_JOINT:
            j = int(m.eq_obj1id[e])
            if j in drives:
                raise model.bad("", names[e], f"joint {model.joints[j]!r} follows two equalities; keep one")
            drives[j] = _drive(model, e, names[e])
        elif kind in (kinds.mjEQ_CONNECT, kinds.mjEQ_WELD):
            loops.append(_loop(model, e, names[e], point=bool(kind == kinds.mjEQ_CONNECT)))
        else:
            raise model.bad("", names[e], f"equality {names[e]!r} ties neither bodies nor joints; delete it")
    return drives, loops


def _drive(model: Model, e: int, name: str) -> Drive | float:
    """``y − y0 = a0 + a1 (x − x0)``, with the start values x0 and y0 of both joints."""
    m = model.tables
    j, leader = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
    a = m.eq_data[e, :5].tolist()
    start = float(m.qpos0[m.jnt_qposadr[j]])
    if leader < 0:
        return start + a[0]
    if any(a[2:]):
        raise model.bad(
            "joint", name, f"joint {model.joints[j]!r} follows {model.joints[leader]!r} by a polynomial of higher "
            "degree; only straight lines (two coefficients) are read"
        )  # fmt: skip
    if a[1] == 0.0:
        return start + a[0]
    return mimic(model.joints[leader], a[1], start + a[0] - a[1] * float(m.qpos0[m.jnt_qposadr[leader]]))


def _loop(model: Model, e: int, name: str, point: bool) -> Loop:
    """A connect or a weld; its ends are given by two sites, or by anchors in two bodies."""
    m = model.tables
    one, two, data = int(m.eq_obj1id[e]), int(m.eq_obj2id[e]), m.eq_data[e]
    if m.eq_objtype[e] == model.api.mjtObj.mjOBJ_SITE:
        a, b = (model.carrier(k) or "world" for k in (one, two))
        return Loop(name, a, b, model.site(one), model.site(two), point)
    a, b = model.bodies[one], model.bodies[two]
    if point:
        return Loop(name, a, b, place(data[:3]), place(data[3:6]), True)
    return Loop(name, a, b, place(data[3:6], quat_wxyz=data[6:10]), place(data[:3]))
