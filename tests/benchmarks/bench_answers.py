"""How often ``compare`` and ``explain`` say what is not so, on data whose truth is known.

``python bench_answers.py [--rows 60 245 1000] [--repeats 200]`` prints a table. Each repeat draws a
study of four sources anew: ``main`` and ``side`` tell the classes apart, ``copy`` has what ``main``
has with other noise, ``noise`` has nothing. What is true of a difference is its mean over all
repeats, each of which learns from rows of its own. A sentence is wrong if it says that something is
better, worse, lost or gained which is not, or that a difference is no larger than it is.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd

from mklkit import MKLClassifier, compare
from mklkit.evaluation.verdict import SMALL
from mklkit.explanation import explain

SOURCES = ("main", "copy", "side", "noise")
COLUMNS = 4
LEARNER = "ridge(alpha=10)"
SAID = ["study", "command", "subject", "difference", "low", "high"]
KERNELS = [f"{source}:linear@{source}_*" for source in SOURCES]


def study(n_rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table of four sources of four columns each, and two classes."""
    y = rng.permutation(np.arange(n_rows) % 2)
    signs = 2 * y - 1
    common = 0.9 * signs + rng.normal(size=n_rows)
    signals = {"main": common, "copy": common, "side": 0.5 * signs, "noise": 0 * signs}
    columns = {
        f"{source}_{place}": signals[source] + rng.normal(size=n_rows)
        for source in SOURCES
        for place in range(COLUMNS)
    }
    return pd.DataFrame(columns), y


def statements(n_rows: int, seed: int) -> Iterator[tuple[str, str, float, float, float]]:
    """Yield command, subject, difference, low and high of what is said about one study."""
    frame, y = study(n_rows, np.random.default_rng([n_rows, seed]))
    model = MKLClassifier(KERNELS, learner=LEARNER).fit(frame, y)
    explained = explain(model, frame, y, repeats=1, columns="sources", random_state=seed)
    for row in explained.kernels.to_dict("records"):
        limits = row["left_out"], row["left_out_low"], row["left_out_high"]
        yield "explain", row["kernel"], *limits
    asked = {"methods": ["alignment", "centered-alignment"], "learners": [LEARNER]}
    done = compare(frame, y, kernels=KERNELS, baselines="none", seed=seed, **asked)
    for row in done.questions.to_dict("records"):
        subject = f"{row['method']} / {row['reference']}"
        yield "compare", subject, row["difference"], row["low"], row["high"]


def claims(said: pd.DataFrame) -> pd.DataFrame:
    """Return which sentences claim a sign, and which a limit; the others say "can't tell".

    ``explain`` limits what is lost, ``compare`` a difference either way. That two methods have the
    same score on every split is no claim about other rows.
    """
    low, high = said["low"], said["high"]
    limit = high.where(said["command"] == "explain", said[["low", "high"]].abs().max(axis=1))
    signed, same = (low > 0) | (high < 0), (said["command"] == "compare") & (low == high)
    limited = ~signed & ~same & (limit <= SMALL)
    return pd.DataFrame({"signed": signed, "limited": limited, "limit": limit, "same": same})


def is_wrong(said: pd.DataFrame, true: pd.Series) -> pd.Series:
    """Return which sentences say of a difference what is not true of it."""
    claimed = claims(said)
    size = true.where(said["command"] == "explain", true.abs())
    opposite = said["difference"] * true <= 0
    return (claimed["signed"] & opposite) | (claimed["limited"] & (size > claimed["limit"]))


def judged(said: pd.DataFrame) -> pd.DataFrame:
    """Return the sentences with whether they are wrong, and whether they leave the answer open."""
    true = said.groupby(["command", "subject"])["difference"].transform("mean")
    is_open = ~claims(said)[["signed", "limited", "same"]].any(axis=1)
    return said.assign(true=true, wrong=is_wrong(said, true), open=is_open)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs="*", default=[60, 245, 1000])
    parser.add_argument("--repeats", type=int, default=200)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| rows | studies | command | sentences | wrong | studies with a wrong one | can't tell |")
    print("|--:|--:|---|--:|--:|--:|--:|")
    for n_rows in options.rows:
        parts = [
            (seed, *part) for seed in range(options.repeats) for part in statements(n_rows, seed)
        ]
        for command, group in judged(pd.DataFrame(parts, columns=SAID)).groupby("command"):
            shares = group["wrong"].mean(), group.groupby("study")["wrong"].any().mean()
            cells = [*(f"{100 * share:.1f} %" for share in (*shares, group["open"].mean()))]
            row = [n_rows, options.repeats, command, len(group), *cells]
            print("|", " | ".join(map(str, row)), "|", flush=True)


if __name__ == "__main__":
    main()
