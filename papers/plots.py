"""What the figures of all papers share: colours that the colour-blind can tell apart, axes, saving."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

BLACK, BLUE, ORANGE, GREEN = "#000000", "#0072B2", "#E69F00", "#009E73"
PURPLE, VERMILION, SKY = "#CC79A7", "#D55E00", "#56B4E9"
"""The colours of Okabe and Ito."""


def subplots(
    width: float, height: float, columns: int = 1, share_x: bool = False
) -> tuple[Figure, list[Axes]]:
    """Returns a figure of so many inches and its axes, side by side."""
    figure, axes = plt.subplots(
        1, columns, figsize=(width, height), sharex=share_x, squeeze=False, layout="constrained"
    )
    return figure, list(axes[0])


def tidy(axis: Axes) -> None:
    """Draws a light grid and removes the frame's upper and right edge."""
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)


def save(figure: Figure, picture: Path) -> None:
    """Writes the figure and frees it."""
    figure.savefig(picture, dpi=150)
    plt.close(figure)
