"""Draw the README's picture, light and dark, from the listings of the study of prokaryotes."""

from __future__ import annotations

import re
from pathlib import Path

import attrs

HERE = Path(__file__).parent
PAGE = HERE.parent / "guides" / "prokaryotic.md"
SOURCES = ("text", "composition", "genes")
ALL = "all three"
SHADES = {"light": ("#1f2328", "#59636e"), "dark": ("#f0f6fc", "#9198a1")}
BLUE, ORANGE = "#3b82c4", "#d9822b"
WIDTH, HEIGHT, LEFT, RIGHT, STEP, TOP = 780, 222, 130, 415, 42, 46
PERCENT, POINT = 2.2, 15.0
"""Pixels of a percentage of accuracy, and of a percentage point lost."""


@attrs.frozen
class Loss:
    """What dropping a source costs, in percentage points, with its interval and the level in %."""

    points: float
    low: float
    high: float
    level: float


def accuracies(page: str) -> dict[str, float]:
    """Return the balanced accuracy of each source alone and of all, in %."""
    names = {**{name: name for name in SOURCES}, "uniform": ALL}
    lines = re.findall(r"^ (\w+) +chosen +(\d+\.\d) ± ", page, re.MULTILINE)
    scores = {names[name]: float(score) for name, score in lines if name in names}
    return {name: scores[name] for name in (*SOURCES, ALL)}


def losses(page: str) -> dict[str, Loss]:
    """Return what dropping each source costs."""
    words = " ".join(page.split()).replace("−", "-")
    interval = r"\(([\d.]+) % (?:CI|limits) (\S+) to (\S+?)[,)]"
    measured = {}
    for name in SOURCES:
        # A loss has no sign, and its interval begins at the least loss; a change is below zero.
        lost = re.search(rf"{name}: lost: (\S+) points {interval}", words)
        change = re.search(rf"{name}: inconclusive: (\S+) points without it {interval}", words)
        if lost:
            points, level, low, high = map(float, lost.groups())
        elif change:
            points, level, high, low = map(float, change.groups())
            points, low, high = -points, -low, -high
        else:
            raise ValueError(f"{PAGE.name} does not say what dropping {name} costs")
        measured[name] = Loss(points, low, high, level)
    return measured


def picture(strong: str, weak: str) -> str:
    """Return bars and intervals as SVG, with the colours of words and of heads."""
    page = PAGE.read_text(encoding="utf-8")
    lost = losses(page)
    zero = RIGHT + POINT
    levels = sorted({loss.level for loss in lost.values()})
    level = " to ".join(f"{end:g}" for end in dict.fromkeys((levels[0], levels[-1])))
    heads = (
        (LEFT, "balanced accuracy, %"),
        (zero, f"points lost without it ({level} % CI)"),
    )
    parts = [f'<text x="{x:.0f}" y="26" fill="{weak}">{words}</text>' for x, words in heads]
    for place, (name, score) in enumerate(accuracies(page).items()):
        y = TOP + place * STEP
        color = ORANGE if name == ALL else BLUE
        length = PERCENT * score
        parts.append(f'<text x="{LEFT - 12}" y="{y + 19}" text-anchor="end">{name}</text>')
        parts.append(
            f'<rect x="{LEFT}" y="{y}" width="{length:.0f}" height="28" fill="{color}"/>'
            f'<text x="{LEFT + length + 8:.0f}" y="{y + 19}">{score:.1f}</text>'
        )
        if name in lost:
            parts.append(_interval(lost[name], zero, y + 14, weak))
    bottom = TOP + len(SOURCES) * STEP - 8
    parts.append(f'<path d="M{zero:.0f} {TOP - 6}V{bottom}" stroke="{weak}" stroke-dasharray="4"/>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" fill="{strong}"'
        f' font-family="sans-serif" font-size="17">\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _interval(loss: Loss, zero: float, y: float, color: str) -> str:
    low, middle, high = (zero + POINT * x for x in (loss.low, loss.points, loss.high))
    return (
        f'<path d="M{low:.0f} {y:.0f}H{high:.0f}" stroke="{color}" stroke-width="3"/>'
        f'<circle cx="{middle:.0f}" cy="{y:.0f}" r="7" fill="{BLUE}"/>'
        f'<text x="{high + 10:.0f}" y="{y + 5:.0f}">{loss.points:.1f}</text>'
    )


def main() -> None:
    """Write both pictures beside this file."""
    for shade, colors in SHADES.items():
        (HERE / f"worth-{shade}.svg").write_text(picture(*colors), encoding="utf-8")


if __name__ == "__main__":
    main()
