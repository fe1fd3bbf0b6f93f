"""Measure, and write the tables of a page, which is ``docs/guides/performance.md``.

Each case is a process of its own (``bench_cases.py``); where a time is compared with another, the
two run in turns and the least of each counts. A table stands between ``<!-- NAME -->`` and
``<!-- end -->``. ``MKLKIT_BENCH_SCALE=0.01`` makes all numbers of rows smaller, to try it;
further names after the page measure these tables only. Only the standard library is imported here:
the system counts a parent's memory as its child's.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import linear_regression
from typing import Any

SCALE = float(os.environ.get("MKLKIT_BENCH_SCALE", "1"))
CASES = Path(__file__).with_name("bench_cases.py")
PATHS = [str(CASES.parents[1]), str(CASES.parents[2]), os.environ.get("PYTHONPATH", "")]
MOST_SECONDS = 300
MISSING = "not installed"
Found = dict[str, Any]
Rows = Iterator[list[str]]


def rows(number: float, pairs: bool = False) -> int:
    """Return a scaled number of rows; what takes time in their square shrinks less."""
    return max(400, round(number * (math.sqrt(SCALE) if pairs else SCALE)))


def run(name: str, **settings: Any) -> Found:
    """Run a case in a process of its own; empty where it could not be run."""
    command = [sys.executable, str(CASES), name, json.dumps(settings)]
    print(name, settings, end=" ", file=sys.stderr, flush=True)
    try:
        done = subprocess.run(
            command,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, PATHS))},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=MOST_SECONDS,
        )
        outcome: Found = json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        outcome = {"late": True}
    except subprocess.CalledProcessError as error:
        outcome = {"failed": error.returncode}
    print(outcome, file=sys.stderr, flush=True)
    return outcome


def in_turns(*cases: tuple[str, Found], repeats: int = 2) -> list[Found]:
    """Return the fastest run of each of several cases, which take turns."""
    turns = [[run(name, **settings) for name, settings in cases] for _ in range(repeats)]
    return [
        min(row, key=lambda facts: facts.get("seconds", math.inf))
        for row in zip(*turns, strict=True)
    ]


def number(measured: Found, name: str = "seconds", unit: str = " s", digits: int = 3) -> str:
    """Return a number and its unit, or why there is none."""
    if name in measured:
        value = measured[name]
        shown = f"{value:,.0f}" if value >= 10**digits else f"{value:.{digits}g}"
        return shown + unit
    if measured.get("late"):
        return f"more than {MOST_SECONDS} s"
    return MISSING if "missing" in measured else "–"


def ratio(ours: Found, reference: Found, name: str = "seconds") -> str:
    """Return ours over theirs."""
    return f"{ours[name] / reference[name]:.2f}" if name in ours and name in reference else "–"


def memory(measured: Found) -> str:
    return number(measured, "mebibytes", " MiB", digits=4) if "seconds" in measured else "–"


def percent(measured: Found) -> str:
    return f"{100 * measured['accuracy']:.1f} %" if "accuracy" in measured else "–"


def machine(folder: str) -> Rows:
    facts = run("machine", size=rows(3000, pairs=True))
    yield ["what", "measured"]
    yield ["cores", str(facts["cores"])]
    yield ["matrix products, float32", number(facts, "float32", " GFlop/s")]
    yield ["matrix products, float64", number(facts, "float64", " GFlop/s")]
    yield ["reading memory", number(facts, "bandwidth", " GB/s")]
    yield ["versions", facts["versions"]]


STATISTICS = {
    "means_and_deviations": "means, deviations (`dimkl2`, `dimkl5`)",
    "quartiles": "quartiles (`dimkl1`, `3`, `4`)",
    "alignments": "`alignment`",
    "centred_alignments": "`centered-alignment`",
    "sum_of_gram_matrices": "weighted sum of Gram matrices",
}


def weights(folder: str) -> Rows:
    size = rows(20_000, pairs=True)
    yield [f"five rbf, N = {size:,}", "type", "mklkit", "one `rbf_kernel`", "ratio"]
    for kind in ("float64", "float32"):
        reference = run("rbf_kernel", n_rows=size, kind=kind)
        for statistic, said in STATISTICS.items():
            ours = run("weights", n_rows=size, kind=kind, statistic=statistic)
            yield [said, kind, number(ours), number(reference), ratio(ours, reference)]


def fit(folder: str) -> Rows:
    size = rows(400_000)
    common = {"folder": folder, "n_rows": size}
    ways = [
        ("three `Nystroem(256)` + `SGDClassifier`", "nystroem", {}),
        ("`uniform` + `mhks`", "ours", {"combiner": "uniform"}),
        ("`dimkl5` + `mhks`", "ours", {"combiner": "dimkl5"}),
        ("`ifsl`", "ours", {"combiner": "ifsl"}),
        ("`uniform` + `kda`", "ours", {"combiner": "uniform", "learner": "kda"}),
        ("`uniform` + `ridge`", "ours", {"combiner": "uniform", "learner": "ridge"}),
    ]
    reference, *runs = in_turns(
        *((name, {**common, **settings, "asks": True}) for _, name, settings in ways)
    )
    yield [
        f"fit, N = {size:,}",
        "seconds",
        "ratio",
        "accuracy",
        "peak memory",
        "ratio",
        "100,000 new rows",
        "ratio",
        "one new row",
    ]
    for (said, _, _), facts in zip(ways, [reference, *runs], strict=True):
        yield [
            said,
            number(facts),
            ratio(facts, reference),
            percent(facts),
            memory(facts),
            ratio(facts, reference, "mebibytes"),
            number(facts, "prediction"),
            ratio(facts, reference, "prediction"),
            number(
                {"one_row": 1000 * facts["one_row"]} if "one_row" in facts else facts,
                "one_row",
                " ms",
            ),
        ]


def busy(folder: str) -> Rows:
    common = {"folder": folder, "n_rows": rows(400_000)}
    cases = [("nystroem", common), ("ours", {**common, "combiner": "dimkl5"})]
    endless = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        reference, ours = in_turns(*cases)
    finally:
        endless.kill()
    yield [f"N = {common['n_rows']:,}, beside a busy process", "seconds", "ratio"]
    yield [
        "three `Nystroem(256)` + `SGDClassifier`",
        number(reference),
        ratio(reference, reference),
    ]
    yield ["`dimkl5` + `mhks`", number(ours), ratio(ours, reference)]


STEPS = {
    "coupled": (3000, "`ifsl`, five rbf, full maps", "one Cholesky factor"),
    "chosen": (3000, "`best-single`, five rbf", "`uniform`"),
    "summed": (10_000, "`uniform`, five rbf, C chosen", "`SVC`, one rbf, C = 1"),
    "searched": (1500, "`ifsl`, five rbf, 81 points in 3 folds, and a fit", "one fit"),
    "regressed": (200, "`loo-ridge`, five rbf, 60 targets", "himalaya, 20 trials"),
}


def steps(folder: str) -> Rows:
    yield ["on all rows", "N", "seconds", "reference", "seconds", "ratio"]
    for name, (n_rows, said, beside) in STEPS.items():
        size = rows(n_rows, pairs=True) if n_rows > 1000 else n_rows
        facts = run("step", which=name, n_rows=size)
        reference = {"seconds": facts["beside"]} if "beside" in facts else facts
        shown = number(reference)
        yield [said, f"{size:,}", number(facts), beside, shown, ratio(facts, reference)]


FULL = {
    "uniform": "`uniform` + `svm`",
    "centered_alignment": "`centered-alignment` + `svm`",
    "mklpy_average": "MKLpy `AverageMKL`",
    "mklpy_easymkl": "MKLpy `EasyMKL`",
    "himalaya": "himalaya `MultipleKernelRidgeCV`, 5 draws of weights",
}


def full(folder: str) -> Rows:
    size = rows(3000, pairs=True)
    cases = [("full", {"folder": folder, "n_rows": size, "method": name}) for name in FULL]
    yield [f"all rows, five rbf, N = {size:,}", "seconds", "ratio", "accuracy", "peak memory"]
    cells = [run(name, **settings) for name, settings in cases]
    for said, facts in zip(FULL.values(), cells, strict=True):
        yield [said, number(facts), ratio(facts, cells[0]), percent(facts), memory(facts)]


def gating(folder: str) -> Rows:
    size = rows(1000, pairs=True)
    facts = run("gating", n_rows=size)
    yield [f"four rbf, N = {size:,}", "seconds"]
    yield ["`cluster-gating` + `kda`, whole fit", number(facts)]
    yield ["quadratic forms of one step", number(facts, "forms")]
    yield ["the same by naive sums, Gram matrices given", number(facts, "naive")]
    size = rows(1500, pairs=True)
    facts = run("grid", n_rows=size)
    yield [f"`ifsl`, three kernels, N = {size:,}, one fit", number(facts, "single")]
    yield ["the grid of 81 pairs of parameters", number(facts)]


def sweep(values: list[int], said: str, settings: Callable[[int], Found]) -> Rows:
    """Yield the times and memory of fits, and at last the exponent of a power fitted to them."""
    points = []
    for value in values:
        facts = run("ours", **settings(value))
        if "seconds" in facts:
            points.append((math.log(value), math.log(facts["seconds"])))
        yield [f"{said} = {value:,}", number(facts), memory(facts), percent(facts)]
    exponent = linear_regression(*zip(*points, strict=True)).slope if len(points) > 1 else math.nan
    yield ["exponent", f"{exponent:.2f}", "", ""]


def sweeps(folder: str) -> Rows:
    yield ["`dimkl5` + `mhks` from a file", "seconds", "peak memory", "accuracy"]
    sizes = [rows(size) for size in (40_000, 130_000, 400_000, 1_300_000, 4_000_000)]
    for size in sizes:
        run("make_rows", folder=folder, n_rows=size, seed=0)
    common = {"folder": folder, "stored": True}
    yield from sweep(sizes, "rows", lambda size: {**common, "n_rows": size})
    common["n_rows"] = sizes[1]
    widths = [64, 128, 256, 512] if SCALE == 1 else [16, 32]
    yield from sweep(widths, "p", lambda p: {**common, "p": p})
    yield from sweep([1, 2, 3, 5], "kernels", lambda count: {**common, "n_kernels": count})


def shares(folder: str) -> Rows:
    facts = run("shares", folder=folder, n_rows=rows(130_000), size=rows(3000, pairs=True))
    yield ["hot path", "reached", "this machine", "share"]
    pairs = [
        ("moments of 3 × 256 features, features included", "gflops", "peak", " GFlop/s"),
        ("Φw of features in memory", "gigabytes", "bandwidth", " GB/s"),
    ]
    for said, reached, most, unit in pairs:
        share = f"{100 * facts[reached] / facts[most]:.0f} %" if most in facts else "–"
        yield [said, number(facts, reached, unit), number(facts, most, unit), share]


TABLES: dict[str, Callable[[str], Rows]] = {
    table.__name__: table
    for table in (machine, weights, fit, busy, steps, full, gating, sweeps, shares)
}


def with_table(page: str, name: str, lines: list[list[str]]) -> str:
    """Return a page with another table between the marks of a name."""
    lines = [lines[0], ["---"] + ["--:"] * (len(lines[0]) - 1), *lines[1:]]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    between = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    return between.sub(lambda match: f"{match[1]}\n{table}\n\n{match[2]}", page)


def main(path: str, *names: str) -> None:
    """Write the tables one by one, so that an interrupted run has lost only one of them."""
    page = Path(path)
    with tempfile.TemporaryDirectory(
        dir="/var/tmp" if Path("/var/tmp").is_dir() else None
    ) as folder:
        run("make_rows", folder=folder, n_rows=20_000, seed=1)
        for seed in (rows(400_000), rows(130_000)):
            run("make_rows", folder=folder, n_rows=seed, seed=0)
        for name in names or TABLES:
            lines = list(TABLES[name](folder))
            page.write_text(with_table(page.read_text(encoding="utf-8"), name, lines), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
