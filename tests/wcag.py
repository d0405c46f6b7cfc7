"""Contrast of colours as WCAG 2.2 defines it."""

import numpy as np
from matplotlib.colors import to_rgb


def linear(color):
    color = np.array(to_rgb(color))
    return np.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)


def contrast(color, other="white"):
    """Return the contrast ratio of two colours, from 1 to 21."""
    dark, light = sorted(linear(one) @ [0.2126, 0.7152, 0.0722] for one in (color, other))
    return (light + 0.05) / (dark + 0.05)
