"""Erleben & Andrews 2019 (exact Hessians): what second derivatives are worth, on many chains, in reach and out of it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from ink import COLOURS, kept, sheet
from pages import CONFIRMED, NOT, PARTLY, Claim, Page, picture, table
from scipy.optimize import approx_fprime, minimize

import supple
from supple import ActiveSet, At, Figure, Newton, Point, Problem, ProjectedGradient, Task

MEASURES = (
    "src/supple/solvers/newton",
    "src/supple/solvers/descent.py",
    "src/supple/kernels/objective.py",
    "benchmarks/papers/hessian_2019.py",
)
SIZES = (6, 12, 24, 48)
EXACT, GAUSS = "Newton, exact Hessian", "Gauss–Newton (curvature left out)"
OURS = {
    EXACT: Newton(steps=2000, tolerance=1e-8),
    GAUSS: Newton(steps=2000, tolerance=1e-8, curvature=False),
    "BFGS (ActiveSet)": ActiveSet(steps=5000, tolerance=1e-8, update="bfgs"),
    "gradient (spectral)": ProjectedGradient(steps=20_000, tolerance=1e-8),
}
THEIRS = {
    "SciPy BFGS": "BFGS",
    "SciPy trust-exact, our Hessian": "trust-exact",
    "SciPy trust-ncg, our Hessian": "trust-ncg",
    "SciPy trust-exact, differences": "trust-exact",
}


def chain(joints: int, rng: np.random.Generator) -> Figure:
    """A snake of hinges about random axes, links of 2 m in all, no limits."""
    parts, parent = [], None
    for k in range(joints):
        axis = rng.normal(size=3)
        rest = {} if parent is None else {"at": (0.0, 0.0, 2.0 / joints)}
        parts += supple.hinge(f"j{k}", parent, tuple(axis / np.linalg.norm(axis)), **rest)
        parent = f"j{k}"
    return Figure("snake", parts)


def problems(quick: bool) -> list[tuple[int, bool, Problem, np.ndarray]]:
    """Size, whether it can be met, problem and start: two effectors on each chain, one in the middle and one at the end."""
    rng, out = np.random.default_rng(7), []
    for size in SIZES:
        for _ in range(20 if quick else 200):
            figure = chain(size, rng)
            ends = [Point(f"j{size // 2 - 1}", (0, 0, 2.0 / size)), Point(f"j{size - 1}", (0, 0, 2.0 / size))]
            posture, start = rng.uniform(-1.5, 1.5, (2, size))
            for reachable in (True, False):
                goals = [
                    figure.seen(posture, end)[:3, 3] * (1.0 if reachable else 1.0 + 3.0 * k)
                    for k, end in enumerate(ends)
                ]
                if not reachable:
                    goals[1] = goals[1] / np.linalg.norm(goals[1]) * 2.6
                tasks = [Task(end, At(goal), tolerance=1e-9) for end, goal in zip(ends, goals, strict=True)]
                out.append((size, reachable, Problem(figure, tasks), start))
    return out


def by_scipy(problem: Problem, start: np.ndarray, label: str, method: str) -> tuple[np.ndarray, int, int, int]:
    """Posture, steps, evaluations of value and gradient, evaluations of Hessians."""
    counts = [0, 0]

    def value(q: np.ndarray) -> tuple[float, np.ndarray]:
        counts[0] += 1
        here = problem.evaluate(q, hessian=False)
        return here.value, here.gradient

    def slope(q: np.ndarray) -> np.ndarray:
        return value(q)[1]

    def hessian(q: np.ndarray) -> np.ndarray:
        counts[1] += 1
        if "differences" not in label:
            return problem.evaluate(q).hessian
        H = approx_fprime(q, slope, 1e-7)
        return 0.5 * (H + H.T)

    more = {} if method == "BFGS" else {"hess": hessian}
    found = minimize(value, start, jac=True, method=method, options={"gtol": 1e-8, "maxiter": 5000}, **more)
    return found.x, int(found.nit), counts[0], counts[1]


def compared(quick: bool, images: Path) -> list[dict[str, Any]]:
    """Every method on every problem."""
    stated, rows = problems(quick), []
    for number, (size, reachable, problem, start) in enumerate(stated):
        answers = {}
        problem.evaluate(start)  # packed now
        for label, solver in OURS.items():
            if number == 0:
                solver.solve(problem, start)  # compiled now
            begun = time.process_time()
            found = solver.solve(problem, start)
            answers[label] = (found.q, found.iterations, found.evaluations, 0, time.process_time() - begun)
        for label, method in THEIRS.items():
            begun = time.process_time()
            answers[label] = (*by_scipy(problem, start, label, method), time.process_time() - begun)
        values = {label: problem.value(answer[0]) for label, answer in answers.items()}
        least = min(values.values())
        for label, (q, steps, evaluations, hessians, seconds) in answers.items():
            flat = float(np.abs(problem.evaluate(q, hessian=False).gradient).max())
            best = values[label] <= least * (1 + 1e-6) + 1e-12
            rows.append(
                {
                    "size": size,
                    "reachable": reachable,
                    "method": label,
                    "flat": flat < 1e-6,
                    "best": bool(best),
                    "steps": steps,
                    "evaluations": evaluations,
                    "hessians": hessians,
                    "ms": 1e3 * seconds,
                }
            )
        if number % 40 == 39:
            print(f"  {number + 1} of {len(stated)} problems", flush=True)
    pictures, panels = sheet(1, 2, 3.4, sharey=True)
    for panel, reachable in zip(panels, (True, False), strict=True):
        for k, label in enumerate((*OURS, *THEIRS)):
            medians = [
                np.median(
                    [r["steps"] for r in rows if (r["size"], r["reachable"], r["method"]) == (n, reachable, label)]
                )
                for n in SIZES
            ]
            panel.plot(
                SIZES, medians, marker=".", label=label, color=COLOURS[k], linestyle="-" if label in OURS else "--"
            )
        panel.set(
            xscale="log",
            yscale="log",
            xlabel="hinges",
            title="in reach" if reachable else "out of reach",
            ylabel="steps, median" if reachable else "",
        )
        panel.set_xticks(SIZES, [str(n) for n in SIZES])
        panel.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
    pictures.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    kept(pictures, images, "hessian_steps")
    return rows


def derivatives(quick: bool, images: Path) -> dict[str, Any]:
    """The exact Hessian beside differences of the gradient: error and cost, and how often it is indefinite."""
    rng, out = np.random.default_rng(1), []
    for size in SIZES:
        figure = chain(size, rng)
        problem = Problem(figure, [Task(Point(f"j{size - 1}", (0, 0, 2.0 / size)), At((0.5, 0.5, 0.5)))])
        q = rng.uniform(-1.5, 1.5, (20, size))
        problem.evaluate(q[0])
        begun = time.process_time()
        exact = [problem.evaluate(x).hessian for x in q for _ in range(20)][::20]
        middle = time.process_time()
        found = [approx_fprime(x, lambda y, p=problem: p.evaluate(y, hessian=False).gradient, 1e-7) for x in q]
        end = time.process_time()
        error = max(np.abs(a - b).max() / np.abs(a).max() for a, b in zip(exact, found, strict=True))
        bent = np.mean([np.linalg.eigvalsh(H)[0] < -1e-9 * np.abs(H).max() for H in exact])
        out.append(
            {
                "size": size,
                "error": float(error),
                "exact": (middle - begun) / len(q) / 20 * 1e6,
                "differences": (end - middle) / len(q) * 1e6,
                "indefinite": float(bent),
            }
        )
    return {"rows": out}


PARTS = {"compared": compared, "derivatives": derivatives}


def page(found: Any) -> Page:
    """The page, or what of it is known before anything was measured."""
    out = Page(
        "hessian",
        "Exact Hessians",
        "K. Erleben and S. Andrews, *Inverse kinematics problems with exact Hessian matrices*, 2019, supplementary "
        "notes. The method is "
        "`Newton`; value, gradient and Hessian are `problem.evaluate(q)`, the tensor K of an effector "
        "`figure.curvature(q, effector)`.",
        MEASURES,
    )
    if found is None:
        return out
    rows = found["compared"]

    def of(label: str, reachable: bool) -> list[dict[str, Any]]:
        return [r for r in rows if r["method"] == label and r["reachable"] == reachable]

    def median(label: str, reachable: bool, what: str) -> float:
        return float(np.median([r[what] for r in of(label, reachable)]))

    def share(label: str, reachable: bool, what: str) -> float:
        return 100.0 * float(np.mean([r[what] for r in of(label, reachable)]))

    labels, slopes = (*OURS, *THEIRS), found["derivatives"]["rows"]
    fewest = [
        median(EXACT, r, "steps") <= min(median(x, r, "steps") for x in ("BFGS (ActiveSet)", "gradient (spectral)"))
        for r in (True, False)
    ]
    quicker = [r["exact"] < r["differences"] for r in slopes]
    cheap = (
        [median(EXACT, r, "ms") for r in (True, False)],
        [median("BFGS (ActiveSet)", r, "ms") for r in (True, False)],
    )
    gauss = median(GAUSS, True, "steps"), median(GAUSS, False, "steps")
    exact = median(EXACT, True, "steps"), median(EXACT, False, "steps")
    out.claims.extend(
        [
            Claim(
                "the closed form is exact",
                CONFIRMED if max(r["error"] for r in slopes) < 1e-5 else NOT,
                f"beside differences of the gradient: {max(r['error'] for r in slopes):.0e} at worst, which is the "
                f"differences' own error",
            ),
            Claim(
                "it costs less than finite differences",
                CONFIRMED if all(quicker) else PARTLY,
                ", ".join(f"{r['size']} hinges {r['exact']:.0f} against {r['differences']:.0f} µs" for r in slopes)
                + " (calls from Python)",
            ),
            Claim(
                "far from a solution it is usually indefinite: a safeguard is needed",
                CONFIRMED if min(r["indefinite"] for r in slopes) > 0.5 else PARTLY,
                ", ".join(f"{100 * r['indefinite']:.0f} % with {r['size']} hinges" for r in slopes),
            ),
            Claim(
                "Newton needs fewer steps than BFGS and gradients",
                CONFIRMED if all(fewest) else PARTLY if any(fewest) else NOT,
                "; ".join(
                    f"{'in' if r else 'out of'} reach {median(EXACT, r, 'steps'):.0f} against "
                    f"{median('BFGS (ActiveSet)', r, 'steps'):.0f} (BFGS) and "
                    f"{median('gradient (spectral)', r, 'steps'):.0f} (gradient)"
                    for r in (True, False)
                ),
            ),
            Claim(
                "and less time",
                CONFIRMED
                if all(a < b for a, b in zip(*cheap, strict=True))
                else PARTLY
                if any(a < b for a, b in zip(*cheap, strict=True))
                else NOT,
                "; ".join(
                    f"{'in' if r else 'out of'} reach {median(EXACT, r, 'ms'):.2f} against "
                    f"{median('BFGS (ActiveSet)', r, 'ms'):.2f} ms for BFGS"
                    for r in (True, False)
                ),
            ),
            Claim(
                "curvature beats Gauss–Newton",
                CONFIRMED
                if exact[0] < gauss[0] and exact[1] < gauss[1]
                else PARTLY
                if exact[0] < gauss[0] or exact[1] < gauss[1]
                else NOT,
                f"steps in reach {exact[0]:.0f} against {gauss[0]:.0f}, out of reach {exact[1]:.0f} against {gauss[1]:.0f}: "
                "where residuals vanish curvature matters little, where they stay it is what makes the end quadratic",
            ),
        ]
    )
    out.body.extend(
        [
            "## Many chains",
            "",
            f"{len(rows) // len(labels)} problems: snakes of {', '.join(map(str, SIZES))} hinges about random axes, "
            f"two points to "
            "place, random starts, no limits; half of them out of reach. *Flat*: the gradient is below 1e-6. *Best*: "
            "no method found less. Medians; "
            "processor time of one call each. SciPy is fed value, gradient and Hessian of `problem.evaluate`, call by "
            "call from Python.",
        ]
    )
    for reachable in (True, False):
        out.body.extend(
            [
                "",
                f"**{'In reach' if reachable else 'Out of reach'}**",
                "",
                *table(
                    ["method", "flat [%]", "best [%]", "steps", "values and gradients", "Hessians", "ms"],
                    [
                        [
                            x,
                            f"{share(x, reachable, 'flat'):.0f}",
                            f"{share(x, reachable, 'best'):.0f}",
                            f"{median(x, reachable, 'steps'):.0f}",
                            f"{median(x, reachable, 'evaluations'):.0f}",
                            f"{median(x, reachable, 'hessians'):.0f}" if x in THEIRS else "–",
                            f"{median(x, reachable, 'ms'):.2f}",
                        ]
                        for x in labels
                    ],
                ),
            ]
        )
    out.body.extend(
        [
            "",
            "The evaluations of our loops count value, gradient and Hessian as one.",
            *picture("hessian_steps", "Steps against the number of hinges, in and out of reach"),
        ]
    )
    return out
