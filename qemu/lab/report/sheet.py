# SPDX-License-Identifier: GPL-2.0
"""A sheet: one figure in the house's style.

Title above, one pair of axes, and below them what the reference found beside
what was measured here.  The same numbers always give the same bytes.
"""

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (8.0, 6.2)
DPI = 150
INK = "#22262a"
MUTED = "#6b7278"
GRID = "#e3e6e8"
WRAP = 54

STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "lines.linewidth": 1.8,
    "lines.markersize": 6,
    "svg.hashsalt": "lab",
    "svg.fonttype": "path",
}
"""The salt makes the ids in an SVG repeatable; paths make it independent of fonts."""


@contextmanager
def empty(size: tuple[float, float], dpi: int = DPI, **more: Any) -> Iterator["Figure"]:
    """A white figure, size in inches; what is drawn in it meanwhile has the house's style."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        yield Figure(figsize=size, dpi=dpi, facecolor="white", **more)


class Sheet:
    """One figure in the making; draw on `axes`, then `save` it."""

    def __init__(self, title: str, subtitle: str, reference: str = "", here: str = "") -> None:
        """Open it: a title and its one-line explanation above the axes, both findings below."""
        columns = ((0.04, "Reference", reference), (0.52, "Measured here", here))
        with empty(SIZE) as self._figure:
            self.axes: Axes = self._figure.add_axes((0.11, 0.3, 0.85, 0.555))
            text = self._figure.text
            text(0.04, 0.955, title, fontsize=13, fontweight="bold", va="center")
            text(0.04, 0.91, subtitle, fontsize=9.5, color=MUTED, va="center")
            for left, head, body in (column for column in columns if column[2]):
                text(left, 0.168, head, fontsize=9.5, fontweight="bold", va="center")
                wrapped = textwrap.fill(body, WRAP)
                text(left, 0.143, wrapped, fontsize=8.5, va="top", linespacing=1.35)

    def legend(self) -> None:
        """Name the curves in the upper left corner, without a frame."""
        self.axes.legend(loc="upper left", frameon=False, labelcolor=INK)

    def save(self, folder: Path, stem: str) -> list[Path]:
        """Write STEM.png and STEM.svg."""
        return save(self._figure, folder, stem)


def save(figure: "Figure", folder: Path, stem: str) -> list[Path]:
    """Write STEM.png and STEM.svg; the same figure always gives the same bytes."""
    import matplotlib as mpl

    folder.mkdir(parents=True, exist_ok=True)
    png, svg = folder / f"{stem}.png", folder / f"{stem}.svg"
    with mpl.rc_context(STYLE):
        figure.savefig(png, format="png", metadata={"Software": None})
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    return [png, svg]
