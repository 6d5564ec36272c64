"""Ask one question through every door of the library, and keep what each of them answered."""

from __future__ import annotations

from typing import Any

import numpy as np

import supple
from questions import PATH, Question

SOLVERS: tuple[Any, ...] = (
    supple.LevenbergMarquardt(), supple.Newton(), supple.ActiveSet(), supple.ProjectedGradient(steps=300),
    supple.JacobianTranspose(), supple.solvers.DampedLeastSquares(), supple.PseudoInverse(), supple.CyclicCoordinateDescent(),
    supple.Fabrik(), supple.Multistart(supple.Newton(), attempts=3), supple.Decide(boxes=20),
)  # fmt: skip


class Ledger:
    """Answers of doors to rows of targets, and what is wrong before anybody has judged a posture."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.doors: list[str] = []
        self.rows: list[int] = []
        self.q: list[np.ndarray] = []
        self.status: list[str] = []
        self.reported: list[np.ndarray | None] = []  # (tasks, 2)
        self.answers: list[Any] = []
        self.wrong: list[dict[str, Any]] = []

    def complain(self, law: str, door: str, row: int, **detail: Any) -> None:
        """Note that a law does not hold."""
        self.wrong.append({"law": law, "door": door, "row": int(row)} | {k: str(v) for k, v in detail.items()})

    def add(self, door: str, row: int, answer: Any) -> Any:
        """One answer; its sentence and its errors are read, as users would."""
        if not isinstance(answer.reason, str) or not answer.reason:
            self.complain("a reason is given", door, row, status=answer.status.name)
        if answer.ok != (answer.status.name == "SOLVED"):
            self.complain("ok means SOLVED", door, row, status=answer.status.name)
        self._note(door, row, answer.q, answer.status.name, np.array(answer.errors, float).reshape(-1, 2), answer)
        return answer

    def add_many(self, door: str, rows: Any, answers: Any) -> None:
        """The rows of a batch; errors and sentences of a few."""
        for k, row in enumerate(rows):
            status = answers.status[k].name
            self._note(door, row, answers.q[k], status, None, answers[k] if status == "IMPOSSIBLE" else None)
        for k in range(0, len(rows), max(1, len(rows) // 4)):
            self.add(f"{door}[i]", rows[k], answers[k])

    def _note(self, door: str, row: int, q: Any, status: str, reported: Any, answer: Any) -> None:
        self.doors.append(door)
        self.rows.append(int(row))
        self.q.append(np.array(q))
        self.status.append(status)
        self.reported.append(reported)
        self.answers.append(answer)

    def same(self, door: str, other: str, row: int, a: Any, b: Any) -> None:
        """Two doors have answered one question: the same bits, the same word and the same sentence."""
        if not np.array_equal(np.asarray(a.q), np.asarray(b.q)):
            gap = float(np.abs(np.asarray(a.q) - np.asarray(b.q)).max())
            self.complain("doors agree on q", f"{door} and {other}", row, gap=gap, words=(a.status, b.status))
        elif a.status is not b.status:
            self.complain("doors agree on the status", f"{door} and {other}", row, words=(a.status, b.status))
        elif a.reason != b.reason:
            self.complain("doors agree on the reason", f"{door} and {other}", row, words=(a.reason, b.reason))


def ask(question: Question, rng: np.random.Generator) -> Ledger:
    """Every door, each with a share of the rows."""
    ledger = Ledger(question)
    seed = 0 if rng.random() < 0.8 else int(rng.integers(1, 9))
    count = len(question.kinds)
    odd = [i for i, kind in enumerate(question.kinds) if kind in ("hair", "beyond")]
    plain = [int(i) for i in rng.permutation(count)[:24] if i not in odd]
    heavy = question.drawn.figure.size > 30 or question.problem.obstacles
    _batch(ledger, rng, seed, plain[: 8 if heavy else 24], odd[:2])
    _single(ledger, rng, seed, plain[:2] + odd[:1])
    _path(ledger, rng, seed)
    _steps(ledger, rng, plain[:2])
    _cut_short(ledger, rng, seed, plain[2:4])
    _others(ledger, rng, plain[4 : 5 if heavy else 6])
    if rng.random() < 0.25:
        _dragged(ledger, plain[:6])
    return ledger


def _targets(question: Question, rows: Any) -> Any:
    out = [None if t is None else t[rows] for t in question.targets]
    return out[0] if len(out) == 1 else out


def _target(question: Question, row: int) -> Any:
    out = question.row(row)
    return out[0] if len(out) == 1 else out


def _batch(ledger: Ledger, rng: np.random.Generator, seed: int, plain: list[int], odd: list[int]) -> None:
    """`solve_many` for all rows, a prepared query for some of them, the same ones again, and two threads."""
    question, every = ledger.question, np.arange(len(ledger.question.kinds))
    options: dict[str, Any] = {"start": question.start, "seed": seed}
    threads = int(rng.integers(1, 3))
    many = supple.solve_many(question.problem, _targets(question, every), threads=threads, **options, prove=False)
    ledger.add_many("solve_many", every, many)
    query = supple.prepare(question.problem, seed=seed, prove=False)
    for i in plain + odd:
        answer = ledger.add("query", i, query(_target(question, i), question.start))
        ledger.same("query", "solve_many", i, answer, many[i])
    if plain:
        i = plain[0]
        again = query(_target(question, i), question.start)
        ledger.same("query", "the same query again", i, again, many[i])
        part = supple.solve_many(
            question.problem, _targets(question, [i, i]), threads=3 - threads, **options, prove=False
        )
        ledger.same("solve_many", "solve_many of two", i, many[i], part[1])


def _single(ledger: Ledger, rng: np.random.Generator, seed: int, rows: list[int]) -> None:
    """`solve`, the short form, and both beside a query; what is not solved is proved impossible where that is possible."""
    question = ledger.question
    prove = bool(rng.random() < 0.8)
    query = supple.prepare(question.problem, seed=seed, prove=prove)
    options: dict[str, Any] = {"start": question.start, "seed": seed, "prove": prove}
    told = []
    for i in rows:
        told.append(answer := ledger.add("solve", i, supple.solve(question.aimed(i), **options)))
        asked = ledger.add("query, proving" if prove else "query", i, query(_target(question, i), question.start))
        ledger.same("solve", "query", i, answer, asked)
        if rng.random() < 0.3:
            ledger.same("solve", "the same solve again", i, answer, supple.solve(question.aimed(i), **options))
        if question.short and seed == 0:
            goals = {task.effector.segment: task.goal for task in question.aimed(i).tasks}
            short = supple.solve(question.problem.figure, goals, start=question.start, prove=prove)
            ledger.same("solve", "short form", i, answer, ledger.add("short form", i, short))
    if rows:
        many = supple.solve_many(question.problem, _targets(question, rows), **options)
        name = "solve_many, proving" if prove else "solve_many"
        ledger.add_many(name, rows, many)
        for k, i in enumerate(rows):
            ledger.same("solve", name, i, told[k], many[k])


def _path(ledger: Ledger, rng: np.random.Generator, seed: int) -> None:
    """`follow` along the first rows, at will or within greatest speeds."""
    question = ledger.question
    rows = np.arange(min(PATH, len(question.kinds)))
    options: dict[str, Any] = {"start": question.start, "seed": seed}
    path = supple.follow(question.problem, _targets(question, rows), **options)
    ledger.add_many("follow", rows, path)
    dt, speed = 0.02, float(rng.uniform(0.5, 20.0)) * max(1.0, question.drawn.scale)
    path = supple.follow(question.problem, _targets(question, rows), dt=dt, speed=speed, **options)
    ledger.add_many("follow, paced", rows, path)
    fast = np.abs(np.diff(path.q, axis=0)).max(initial=0.0)
    if fast > speed * dt * (1.0 + 1e-9):
        ledger.complain("speeds are kept", "follow", 0, fast=fast, speed=speed * dt)


def _steps(ledger: Ledger, rng: np.random.Generator, rows: list[int]) -> None:
    """`step` from a legal posture: legal, and within greatest speeds."""
    question = ledger.question
    figure, limits = question.problem.figure, question.problem.limits
    assert limits is not None
    if not limits.is_box or question.problem.obstacles:
        return
    for i in rows:
        q = question.postures[int(rng.integers(len(question.postures)))]
        dt = float(10.0 ** rng.uniform(-4, -1))
        after = supple.step(question.problem, q, dt, targets=_target(question, i))
        ledger._note("step", i, after, "", None, None)
        if (np.abs(after - q) > figure.speed * dt * (1.0 + 1e-9) + 1e-15 * np.abs(q)).any():
            ledger.complain("speeds are kept", "step", i, moved=np.abs(after - q).max(), dt=dt)


def _cut_short(ledger: Ledger, rng: np.random.Generator, seed: int, rows: list[int]) -> None:
    """With a budget, through two doors; with a deadline; several solutions of one row."""
    question = ledger.question
    for i in rows:
        budget = int(rng.integers(1, 40))
        options: dict[str, Any] = {"start": question.start, "seed": seed}
        answer = ledger.add("budget", i, supple.solve(question.aimed(i), budget=budget, **options, prove=False))
        query = supple.prepare(question.problem, seed=seed, budget=budget, prove=False)
        ledger.same("budget", "query with a budget", i, answer, query(_target(question, i), question.start))
        if answer.evaluations > budget:
            ledger.complain("budgets are kept", "budget", i, budget=budget, spent=answer.evaluations)
        late = float(10.0 ** rng.uniform(-4, -2))
        ledger.add("deadline", i, supple.solve(question.aimed(i), deadline=late, **options))
    if rows and question.drawn.figure.size <= 12 and not question.problem.obstacles and not question.problem.loops:
        for one in supple.solve(question.aimed(rows[0]), distinct=3, start=question.start, seed=seed):
            ledger.add("distinct", rows[0], one)


def _others(ledger: Ledger, rng: np.random.Generator, rows: list[int]) -> None:
    """Another solver; it may refuse what it says it cannot take, and nothing else."""
    question = ledger.question
    for i in rows:
        solver = SOLVERS[int(rng.integers(len(SOLVERS)))]
        name = f"solver {type(solver).__name__}"
        reasons = solver.refuse(question.problem)
        try:
            ledger.add(name, i, supple.solve(question.aimed(i), solver=solver, start=question.start))
            if reasons:
                ledger.complain("what is refused is not solved", name, i, reasons=reasons)
        except supple.Refused as error:
            ledger._note(name, i, question.postures[0], "REFUSED", None, None)
            if not reasons:
                ledger.complain("nothing is refused without a reason", name, i, said=error)


def _dragged(ledger: Ledger, rows: list[int]) -> None:
    """`Scene.drag` of the first task, the others where they are."""
    question = ledger.question
    if len(question.problem.tasks) != 1 or question.problem.obstacles or np.any(question.problem.rigidity):
        return
    if question.judge.stated is not None:
        return
    scene, task = supple.Scene(question.problem.figure), question.problem.tasks[0]
    scene.add("goal", task)
    for i in rows:
        ledger.add("Scene.drag", i, scene.drag("goal", _target(question, i)))
