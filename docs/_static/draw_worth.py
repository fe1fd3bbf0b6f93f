"""Draw the picture of the README, light and dark, from the table that its ``explain`` printed."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
ROW = re.compile(r"^ (\w+) +(0\.\d+) ± \S+ +(\d+\.\d) ± \S+ +\d+\.\d ± \S+$", re.MULTILINE)
SHADES = {"light": ("#1f2328", "#59636e"), "dark": ("#f0f6fc", "#9198a1")}
BLUE, ORANGE = "#3b82c4", "#d9822b"
WIDTH, HEIGHT, LEFT, RIGHT, FULL, STEP = 680, 180, 90, 395, 220, 42


def rows() -> list[tuple[str, float, float]]:
    """Return each kernel with its weight and the points lost without it."""
    page = (HERE.parents[1] / "README.md").read_text(encoding="utf-8")
    return [(name, float(weight), float(lost)) for name, weight, lost in ROW.findall(page)]


def picture(strong: str, weak: str) -> str:
    """Return the bars as SVG, with the colours of words and of heads."""
    table = rows()
    heads = ((LEFT, "weight"), (RIGHT, "points lost without it"))
    parts = [f'<text x="{x}" y="26" fill="{weak}">{words}</text>' for x, words in heads]
    largest = [max(row[place] for row in table) for place in (1, 2)]
    for place, (name, weight, lost) in enumerate(table):
        y = 46 + place * STEP
        parts.append(f'<text x="{LEFT - 12}" y="{y + 19}" text-anchor="end">{name}</text>')
        bars = ((LEFT, weight / largest[0], BLUE, f"{weight:.2f}"),)
        bars += ((RIGHT, lost / largest[1], ORANGE, f"{lost:.1f}"),)
        for x, share, color, words in bars:
            length = max(FULL * share, 2)
            parts.append(f'<rect x="{x}" y="{y}" width="{length:.0f}" height="28" fill="{color}"/>')
            parts.append(f'<text x="{x + length + 8:.0f}" y="{y + 19}">{words}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" fill="{strong}"'
        f' font-family="sans-serif" font-size="17">\n' + "\n".join(parts) + "\n</svg>\n"
    )


def main() -> None:
    """Write both pictures beside this file."""
    for shade, colors in SHADES.items():
        (HERE / f"worth-{shade}.svg").write_text(picture(*colors), encoding="utf-8")


if __name__ == "__main__":
    main()
