"""Measure, and write the tables of a page, which is ``docs/guides/performance.md``.

Each case is a process of its own (``bench_cases.py``); where a time is compared with another, the
two run in turns and the least of each counts. A table stands between ``<!-- NAME -->`` and
``<!-- end -->``. ``MKLKIT_BENCH_SCALE=0.01`` makes all numbers of rows smaller, to try it;
further names after the page measure these tables only. The last column names the function of
``bench_data.py`` that generates the rows, and its seed. Only the standard library is imported here:
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
TURNS = 3
"""How often what grows is measured at each size."""
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


def data(name: str, seed: int = 0) -> str:
    """Return the words for generated rows."""
    return f"`{name}`, {seed}"


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


def over(ours: Found, reference: Found, name: str) -> str:
    """Return ours over theirs, or why there is no such number."""
    return ratio(ours, reference, name) if name in ours else number(ours, name)


def memory(measured: Found) -> str:
    return number(measured, "mebibytes", " MiB", digits=4) if "seconds" in measured else "–"


def percent(measured: Found) -> str:
    return f"{100 * measured['accuracy']:.1f} %" if "accuracy" in measured else "–"


def machine(folder: str) -> Rows:
    facts = run("machine", size=rows(3000, pairs=True))
    yield ["what", "measured", "data, seed"]
    yield ["cores", str(facts["cores"]), "–"]
    for kind in ("float32", "float64"):
        yield [f"matrix products, {kind}", number(facts, kind, " GFlop/s"), data("normal")]
    yield ["reading memory", number(facts, "bandwidth", " GB/s"), "ones"]
    yield ["versions", facts["versions"], "–"]


STATISTICS = {
    "means_and_deviations": "means, standard deviations (`dimkl2`, `dimkl5`)",
    "quartiles": "quartiles (`dimkl1`, `3`, `4`)",
    "alignments": "`alignment`",
    "centred_alignments": "`centered-alignment`",
    "sum_of_gram_matrices": "weighted sum of Gram matrices",
}


def weights(folder: str) -> Rows:
    size = rows(20_000, pairs=True)
    yield [f"five rbf, N = {size:,}", "type", "mklkit", "one `rbf_kernel`", "ratio", "data, seed"]
    for kind in ("float64", "float32"):
        reference = run("rbf_kernel", n_rows=size, kind=kind)
        for statistic, said in STATISTICS.items():
            ours = run("weights", n_rows=size, kind=kind, statistic=statistic)
            share = ratio(ours, reference)
            yield [said, kind, number(ours), number(reference), share, data("halves")]


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
        "100,000 new samples",
        "ratio",
        "one new sample",
        "data, seed",
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
            data("clusters"),
        ]


def busy(folder: str) -> Rows:
    common = {"folder": folder, "n_rows": rows(400_000)}
    cases = [("nystroem", common), ("ours", {**common, "combiner": "dimkl5"})]
    endless = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        reference, ours = in_turns(*cases)
    finally:
        endless.kill()
    yield [f"N = {common['n_rows']:,}, beside a busy process", "seconds", "ratio", "data, seed"]
    both = {"three `Nystroem(256)` + `SGDClassifier`": reference, "`dimkl5` + `mhks`": ours}
    for said, facts in both.items():
        yield [said, number(facts), ratio(facts, reference), data("clusters")]


STEPS = {
    "coupled": (3000, "`ifsl`, five rbf, full maps", "one Cholesky factor"),
    "chosen": (3000, "`best-single`, five rbf", "`uniform`"),
    "summed": (10_000, "`uniform`, five rbf, C chosen", "`SVC`, one rbf, C = 1"),
    "searched": (1500, "`ifsl`, five rbf, 81 points in 3 folds, and a fit", "one fit"),
    "regressed": (200, "`loo-ridge`, five rbf, 60 targets", "himalaya, 20 trials"),
}


def steps(folder: str) -> Rows:
    yield ["on all samples", "N", "seconds", "reference", "seconds", "ratio", "data, seed"]
    for name, (n_rows, said, beside) in STEPS.items():
        size = rows(n_rows, pairs=True) if n_rows > 1000 else n_rows
        facts = run("step", which=name, n_rows=size)
        reference = {"seconds": facts["beside"]} if "beside" in facts else facts
        times = [number(facts), beside, number(reference), ratio(facts, reference)]
        yield [said, f"{size:,}", *times, data("waves" if name == "regressed" else "curved")]


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
    yield [
        f"all samples, five rbf, N = {size:,}",
        "seconds",
        "ratio",
        "accuracy",
        "peak memory",
        "data, seed",
    ]
    cells = [run(name, **settings) for name, settings in cases]
    for said, facts in zip(FULL.values(), cells, strict=True):
        times = [number(facts), ratio(facts, cells[0])]
        yield [said, *times, percent(facts), memory(facts), data("clusters", 1)]


CLASSES = (2, 5, 10, 30, 100)
OF_CLASSES = {
    "svc": "`SVC(C=10)`, all columns",
    "uniform_10": "`uniform` + `svm(C=10)`",
    "uniform": "`uniform` + `svm`, C chosen",
    "dimkl3": "`dimkl3` + `svm`, C chosen",
    "easymkl": "`easymkl` + `svm`, C chosen",
    "ifsl": "`ifsl`",
    "mklpy_easymkl": "MKLpy `EasyMKL`",
    "himalaya": "himalaya, 5 draws of weights",
}
PEERS = ("mklpy_easymkl", "himalaya")


def classes(folder: str) -> Rows:
    size = rows(1000, pairs=True)
    measured: list[dict[str, Found]] = []
    for count in CLASSES:
        common = {"n_rows": size, "n_classes": count}
        cases = {name: ("of_classes", {**common, "method": name}) for name in OF_CLASSES}
        turns = [name for name in OF_CLASSES if name not in PEERS]
        fastest = in_turns(*(cases[name] for name in turns))
        peers = in_turns(*(cases[name] for name in PEERS), repeats=1)
        measured.append(dict(zip([*turns, *PEERS], [*fastest, *peers], strict=True)))
    yield [f"N = {size:,}, number of classes", *(f"{count}" for count in CLASSES), "data, seed"]
    for part, what in (("seconds", "fit"), ("prediction", "predict")):
        for name, said in OF_CLASSES.items():
            cells = [
                number(facts[name], part)
                if name == "svc"
                else over(facts[name], facts["svc"], part)
                for facts in measured
            ]
            yield [f"{what}: {said}", *cells, data("classes")]
    for name, said in OF_CLASSES.items():
        yield [f"accuracy: {said}", *(percent(facts[name]) for facts in measured), data("classes")]


def columns(folder: str) -> Rows:
    yield [
        "columns",
        "fit",
        "peak memory",
        "predict",
        "peak memory",
        "read",
        "peak memory",
        "data, seed",
    ]
    for count in (20, 200, 2000, 10_000, 50_000) if SCALE == 1 else (20, 200):
        tables = [f"{folder}/sources{count}-{seed}.csv" for seed in (0, 1)]
        for seed in (0, 1):
            run("make_sources", folder=folder, n_rows=200, n_columns=count, seed=seed)
        model, answers = f"{folder}/model.mkl", f"{folder}/answers.csv"
        commands = [
            ["-m", "mklkit", "fit", tables[0], "--output", model],
            ["-m", "mklkit", "predict", model, tables[1], "--output", answers],
            ["-c", "import sys, pandas; pandas.read_csv(sys.argv[1])", tables[0]],
        ]
        measured = in_turns(*(("command", {"words": words}) for words in commands))
        cells = [cell for facts in measured for cell in (number(facts), memory(facts))]
        yield [f"{count:,}", *cells, data("sources")]


def gating(folder: str) -> Rows:
    size = rows(1000, pairs=True)
    facts = run("gating", n_rows=size)
    yield [f"four rbf, N = {size:,}", "seconds", "data, seed"]
    yield ["`cluster-gating` + `kda`, whole fit", number(facts), data("quadrants")]
    yield ["quadratic forms of one step", number(facts, "forms"), data("quadrants")]
    naive = number(facts, "naive")
    yield ["the same by naive sums, Gram matrices given", naive, data("quadrants")]
    size = rows(1500, pairs=True)
    facts = run("grid", n_rows=size)
    single = number(facts, "single")
    yield [f"`ifsl`, three kernels, N = {size:,}, one fit", single, data("curved")]
    yield ["the grid of 81 pairs of parameters", number(facts), data("curved")]


def searches(folder: str) -> Rows:
    size = rows(1500, pairs=True)
    yield [
        f"columns, N = {size:,}",
        "by hand",
        "`MKLSearchCV`",
        "ratio",
        "`GridSearchCV`",
        "ratio",
        "data, seed",
    ]
    for count in (20, 2000):
        facts = run("searches", n_rows=size, n_columns=count)
        hand, plain = (
            {"seconds": facts[name]} if name in facts else facts for name in ("hand", "plain")
        )
        cells = [number(hand), number(facts), ratio(facts, hand), number(plain), ratio(plain, hand)]
        yield [f"{count:,}", *cells, data("noisy")]


def with_range(cells: list[str], order: list[float], unit: str = "") -> str:
    """Return the cell of the median of runs, and those of the least and the most."""
    if not order:
        return "–"
    ranked = [cell for _, cell in sorted(zip(order, cells, strict=True))]
    return f"{ranked[len(ranked) // 2]}{unit} ({ranked[0]} to {ranked[-1]})"


def of_turns(runs: list[Found], name: str, unit: str, digits: int) -> str:
    """Return the median of a number in several runs, the least and the most."""
    runs = [facts for facts in runs if name in facts]
    cells = [number(facts, name, "", digits) for facts in runs]
    return with_range(cells, [facts[name] for facts in runs], unit)


def exponents(values: list[int], turns: list[list[Found]], name: str) -> str:
    """Return the exponent of a power fitted to each turn: the median, the least and the most."""
    slopes = []
    for turn in turns:
        points = [
            (math.log(value), math.log(facts[name]))
            for value, facts in zip(values, turn, strict=True)
            if facts.get(name, 0) > 0
        ]
        if len(points) > 2:
            slopes.append(linear_regression(*zip(*points, strict=True)).slope)
    return with_range([f"{slope:.2f}" for slope in slopes], slopes)


def sweep(
    case: str, values: list[int], said: str, words: str, settings: Callable[[int], Found]
) -> Rows:
    """Yield the times and memory of fits in several turns, and at last how they grow."""
    turns = [[run(case, **settings(value)) for value in values] for _ in range(TURNS)]
    for value, runs in zip(values, zip(*turns, strict=True), strict=True):
        kinds = (("seconds", " s", 3), ("mebibytes", " MiB", 4))
        cells = [of_turns(list(runs), *kind) for kind in kinds]
        yield [f"{said} = {value:,}", *cells, percent(runs[0]), words]
    grown = [exponents(values, turns, name) for name in ("seconds", "added")]
    yield [f"exponent of {said}", *grown, "", words]


def sweeps(folder: str) -> Rows:
    yield ["`dimkl5` + `mhks` from a file", "seconds", "peak memory", "accuracy", "data, seed"]
    sizes = [rows(size) for size in (40_000, 130_000, 400_000, 1_300_000, 4_000_000)]
    for size in sizes:
        run("make_rows", folder=folder, n_rows=size, seed=0)
    common, words = {"folder": folder, "stored": True}, data("clusters")
    yield from sweep("ours", sizes, "samples", words, lambda size: {**common, "n_rows": size})
    common["n_rows"] = sizes[1]
    widths = [64, 128, 256, 512] if SCALE == 1 else [16, 32, 64]
    yield from sweep("ours", widths, "p", words, lambda p: {**common, "p": p})
    counts = [1, 2, 3, 5]
    yield from sweep("ours", counts, "kernels", words, lambda n: {**common, "n_kernels": n})


def grams(folder: str) -> Rows:
    yield ["`uniform` + `svm`, all samples", "seconds", "peak memory", "accuracy", "data, seed"]
    sizes = [rows(size, pairs=True) for size in (2000, 4000, 8000, 16_000)]
    common = {"folder": folder, "method": "uniform"}
    words = data("clusters", 1)
    yield from sweep("full", sizes, "samples", words, lambda size: {**common, "n_rows": size})


def shares(folder: str) -> Rows:
    facts = run("shares", folder=folder, n_rows=rows(130_000), size=rows(3000, pairs=True))
    yield ["hot path", "reached", "this machine", "share", "data, seed"]
    pairs = [
        ("moments of 3 × 256 features, features included", "gflops", "peak", " GFlop/s"),
        ("Φw of features in memory", "gigabytes", "bandwidth", " GB/s"),
    ]
    for said, reached, most, unit in pairs:
        share = f"{100 * facts[reached] / facts[most]:.0f} %" if most in facts else "–"
        speeds = [number(facts, reached, unit), number(facts, most, unit)]
        yield [said, *speeds, share, data("clusters")]


TABLES: dict[str, Callable[[str], Rows]] = {
    table.__name__: table
    for table in (
        machine,
        weights,
        fit,
        busy,
        classes,
        columns,
        steps,
        sweeps,
        grams,
        shares,
        full,
        gating,
        searches,
    )
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
