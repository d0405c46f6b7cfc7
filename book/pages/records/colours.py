"""A colour for each section, however many there are, that stands out on white and on black alike. Pure functions."""

from colorsys import hls_to_rgb

FIRST, TURN = 0.58, 0.348  # hues as parts of the circle: the first section's, and how far the next one's lies from it
LUMINANCES = (0.14, 0.24)  # as WCAG defines them, in turn: each has a contrast above 3 with white and with near-black


def colour(place: int) -> str:
    """Return the colour of the section at this place, such as #1f5f99."""
    hue, wanted = (FIRST + place * TURN) % 1, LUMINANCES[place % len(LUMINANCES)]
    dark, light = 0.0, 1.0
    for _ in range(10):  # to a part in a thousand, since a colour has 256 levels
        middle = (dark + light) / 2
        dark, light = (middle, light) if luminance(hls_to_rgb(hue, middle, 0.7)) < wanted else (dark, middle)
    return "#" + "".join(f"{round(255 * part):02x}" for part in hls_to_rgb(hue, light, 0.7))


def luminance(rgb: tuple[float, float, float]) -> float:
    """Return the relative luminance of a colour whose parts lie between 0 and 1."""
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in rgb)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
