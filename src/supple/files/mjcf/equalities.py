"""What the equalities of a compiled model tie: joints by drives, bodies and sites by loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.figure.drives import FREE, Drive, Pair
from supple.figure.figure import Loop
from supple.files.mjcf.couplings import Couplings, Equation, Impossible, drive_of, narrowed
from supple.files.mjcf.names import Names
from supple.geometry.placements import Floats, place


class Equalities:
    """The active equalities of a model: `drives` by joint (a number: the joint never moves from that value), and `loops`.

    `limits` are the ranges of scalar joints once those that follow by curves have narrowed the ranges of their leaders.
    """

    def __init__(self, model: Any, api: Any, names: Names, rest: Floats) -> None:
        self.model, self.api, self.names, self.rest = model, api, names, rest
        self.loops: list[Loop] = []
        self.remarks: list[str] = []
        couplings = Couplings()
        for e in range(model.neq):
            if not model.eq_active0[e]:
                self.remarks.append(f"The equality {names.equalities[e]!r} is not active: it is left out.")
            elif int(model.eq_type[e]) in (api.mjtEq.mjEQ_CONNECT, api.mjtEq.mjEQ_WELD):
                self._tie(e)
            else:
                self._couple(e, couplings)
        self.starts = np.array([float(model.qpos0[k]) for k in model.jnt_qposadr])
        self.limits = [
            (float(low), float(high)) if limited else FREE
            for limited, (low, high) in zip(model.jnt_limited, model.jnt_range, strict=True)
        ]
        room = dict(enumerate(self.limits))  # what followers by lines leave of the ranges
        for j, rule in couplings.rules.items():
            if any(len(c) > 2 for c in rule.terms.values()):
                self.limits[j] = self._passed_on(j, rule)
            elif len(rule.terms) == 1:
                self.limits[j] = self._kept(j, rule, room)
        self.drives: dict[int, Drive | float] = {
            j: drive_of(rule, self.starts, names.joints, self.starts[j]) for j, rule in couplings.rules.items()
        }

    def _leave_out(self, e: int, why: str) -> None:
        name = self.names.equalities[e]
        self.remarks.append(f"The equality {name!r} is left out, so that more moves than in MuJoCo: {why}.")

    # ── joints ───────────────────────────────────────────────────────────────────────────────────────────────────────
    def _couple(self, e: int, couplings: Couplings) -> None:
        """``L₁ = Σ_k a_k L₂ᵏ``, where L are distances from the start: of a joint, or of the length of a fixed tendon."""
        m = self.model
        pair = [self._combination(e, int(k)) for k in (m.eq_obj1id[e], m.eq_obj2id[e])]
        first, second = pair
        if first is None or second is None:
            return self._leave_out(e, "it ties neither bodies nor joints nor fixed tendons")
        a = m.eq_data[e, :5]
        equation = Equation()
        for joint, coefficient in first.items():
            equation.add(joint, (0.0, coefficient))
        equation.constant -= float(a[0])
        try:
            if len(second) > 1 and a[2:].any():
                raise Impossible("a curve of the sum of several joints")
            for joint, coefficient in second.items():
                equation.add(joint, [0.0, *(-a[1:] * coefficient ** np.arange(1, 5)).tolist()])
            couplings.couple(equation, first)
        except Impossible as error:
            self._leave_out(e, str(error))
        return None

    def _combination(self, e: int, k: int) -> dict[int, float] | None:
        """The joints, with coefficients, whose sum an end of an equality speaks of; None if it is no such sum."""
        m, kinds = self.model, self.api.mjtEq
        if k < 0:
            return {}
        if m.eq_type[e] == kinds.mjEQ_JOINT:
            return {k: 1.0}
        if m.eq_type[e] != kinds.mjEQ_TENDON:
            return None
        out: dict[int, float] = {}
        for w in range(m.tendon_adr[k], m.tendon_adr[k] + m.tendon_num[k]):
            if m.wrap_type[w] != self.api.mjtWrap.mjWRAP_JOINT:
                return None
            joint = int(m.wrap_objid[w])
            out[joint] = out.get(joint, 0.0) + float(m.wrap_prm[w])
        return out

    def _passed_on(self, j: int, rule: Equation) -> Pair:
        """A follower's range, made its leader's where it follows one by a curve; what is left for itself is none."""
        limits, name = self.limits[j], self.names.joints[j]
        if not np.isfinite(limits).any():
            return FREE
        leaders = list(rule.terms)
        part = None
        if len(leaders) == 1:
            k = leaders[0]
            start = float(self.starts[k])
            own = (self.limits[k][0] - start, self.limits[k][1] - start)
            mine = (limits[0] - float(self.starts[j]), limits[1] - float(self.starts[j]))
            around = min(max(float(self.rest[self.model.jnt_qposadr[k]]) - start, own[0]), own[1])
            part = narrowed(rule, mine, around, own)
        if part is None:
            self.remarks.append(f"The range of {name!r} is left out: what it follows does not keep to it.")
            return FREE
        k, own = leaders[0], self.limits[leaders[0]]
        new = (part[0] + float(self.starts[k]), part[1] + float(self.starts[k]))
        if new[0] > own[0] + 1e-9 or new[1] < own[1] - 1e-9:
            self.limits[k] = new
            self.remarks.append(
                f"The range of {self.names.joints[k]!r} is {new[0]:.6g} … {new[1]:.6g}, so that {name!r}, which follows "
                "it by a curve, keeps to its own."
            )
        return FREE

    def _kept(self, j: int, rule: Equation, room: dict[int, Pair]) -> Pair:
        """A follower's own range, unless its leader would have nowhere to be."""
        ((k, c),) = rule.terms.items()
        ends = [side - float(self.starts[j]) - rule.constant for side in self.limits[j]]
        ends = sorted(end / float(c[1]) + float(self.starts[k]) for end in ends)
        lower, upper = max(ends[0], room[k][0]), min(ends[1], room[k][1])
        if lower > upper:
            self.remarks.append(
                f"The range of {self.names.joints[j]!r} is left out: together with that of {self.names.joints[k]!r}, "
                "which it follows, it allows nothing."
            )
            return FREE
        room[k] = (lower, upper)
        return self.limits[j]

    # ── loops ────────────────────────────────────────────────────────────────────────────────────────────────────────
    def _tie(self, e: int) -> None:
        m = self.model
        ends = [int(m.eq_obj1id[e]), int(m.eq_obj2id[e])]
        by_sites = m.eq_objtype[e] == self.api.mjtObj.mjOBJ_SITE
        bodies = [int(m.site_bodyid[k]) for k in ends] if by_sites else ends
        if any(m.body_mocapid[b] >= 0 for b in bodies):
            return self._leave_out(e, "it ties a mocap body, which is moved from outside")
        if m.body_weldid[bodies[0]] == m.body_weldid[bodies[1]]:
            self.remarks.append(f"The equality {self.names.equalities[e]!r} ties what cannot move: it is left out.")
            return None
        self.loops.append(self._loop(e, ends, bodies, by_sites))
        return None

    def _loop(self, e: int, ends: list[int], bodies: list[int], by_sites: bool) -> Loop:
        """A connect or a weld; its ends are given by two sites, or by anchors in two bodies."""
        m, data, name = self.model, self.model.eq_data[e], self.names.equalities[e]
        point = bool(m.eq_type[e] == self.api.mjtEq.mjEQ_CONNECT)
        a, b = (self.names.bodies[k] for k in bodies)
        if by_sites:
            at_a, at_b = (place(m.site_pos[k], quat_wxyz=m.site_quat[k]) for k in ends)
            return Loop(name, a, b, at_a, at_b, point)
        if point:
            return Loop(name, a, b, place(data[:3]), place(data[3:6]), True)
        return Loop(name, a, b, place(data[3:6], quat_wxyz=data[6:10]), place(data[:3]))
