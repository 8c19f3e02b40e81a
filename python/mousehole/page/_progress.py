"""How complete a page looks over time, from pictures of its tab, and the index of how early that is.

After WebPageTest's Speed Index, with its visual progress by histograms (P. Meenan, "Speed Index", WebPageTest
documentation, 2012): the area above the curve of visual progress.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from mousehole.engine_types import Floats

Steps = tuple[tuple[float, float], ...]
"""Times in seconds after the navigation began, rising from 0, each with the progress from then on, 0 to 1."""

HISTOGRAMS = """
(async pictures => {
  const found = [];
  for (const picture of pictures) {
    const image = new Image();
    image.src = 'data:image/png;base64,' + picture;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const pixels = context.getImageData(0, 0, image.width, image.height).data;
    const counts = new Array(768).fill(0);
    for (let at = 0; at < pixels.length; at += 4)
      for (let channel = 0; channel < 3; channel++) counts[256 * channel + pixels[at + channel]]++;
    found.push(counts);
  }
  return JSON.stringify(found);
})
"""
"""A function for the browser: base64 of pictures → of each the number of pixels by red, green and blue."""


def compute_progress(times_s: Sequence[float], histograms: Sequence[Sequence[int]]) -> Steps:
    """Returns the visual progress of a load from the times of its pictures and their histograms.

    Times are in seconds after the navigation began, in order. The progress begins at time 0; without pictures
    it is empty. The last picture is the complete page. The last one at or before time 0 is the beginning,
    without one the first. The progress of a picture is 1 − d ÷ d₀, not below 0: d is the difference between
    its histogram and the complete page's, d₀ that between the beginning's and the complete page's. Where
    these two are alike, the page is complete from the first.
    """
    if not times_s:
        return ()
    counts = [np.asarray(one, float) for one in histograms]
    begin = max((place for place, time in enumerate(times_s) if time <= 0), default=0)
    whole = _histogram_difference(counts[begin], counts[-1])
    found = [(0.0, 0.0 if whole else 1.0)]
    for time, own in list(zip(times_s, counts, strict=True))[begin + 1 :] if whole else []:
        found.append((float(time), max(0.0, 1 - _histogram_difference(own, counts[-1]) / whole)))
    return tuple(found)


def speed_index_s(progress: Steps) -> float | None:
    """Returns the area above the curve of visual progress, in seconds; None without a curve."""
    if not progress:
        return None
    return sum((after[0] - before[0]) * (1 - before[1]) for before, after in pairwise(progress))


def _histogram_difference(own: Floats, other: Floats) -> float:
    """Returns the sum of the absolute differences of two histograms of the same length."""
    return float(np.abs(own - other).sum())
