"""Sentences of the text that the machine checks."""

import os
from numbers import Real


class ClaimError(AssertionError):
    """A claim that this machine does not bear out, raised in strict mode."""


def claim(sentence, observed, *, below=None, above=None, otherwise="", attempts=3, unless=None):
    """Check a sentence of the text on this machine and print ✓ or ✗ with the figures observed.

    `observed` is a truth value, a number with a bound (`below`, `above` or both, themselves excluded), or a function
    of no arguments that returns one; the function measures again, `attempts` times at most, before the claim fails.
    A failing claim also prints `otherwise`: what the difference means. With the environment variable
    D2L_STRICT_CLAIMS=1 it raises ClaimError instead of printing ✗.

    `unless` is a function of no arguments, asked after each attempt that fails. It returns a text, the reason why this
    machine cannot tell at the moment, or nothing. A claim that fails all attempts prints – and the reason if one of
    them had any, in strict mode as well: it counts as not checked.
    """
    bounds = _bounds(below, above)
    if not isinstance(attempts, int) or attempts < 1:
        raise ValueError(f"a claim takes a whole number of attempts, at least 1, not {attempts!r}")
    values, reason = [], None
    for _ in range(attempts if callable(observed) else 1):
        values.append(_scalar(observed() if callable(observed) else observed, bounds))
        if held := _holds(values[-1], below, above):
            break
        reason = reason or (unless() if unless else None)
    figures = [_figure(value, below, above) for value in values if not isinstance(value, bool)]
    text = " ".join(sentence.split()) + _evidence(figures, bounds, held, len(values))
    if not held and reason:
        print(f"– {text}\n  not checked: {reason}")
        return
    if not held and otherwise:
        text += f"\n  {otherwise}"
    if not held and os.environ.get("D2L_STRICT_CLAIMS", "0") not in ("", "0"):
        raise ClaimError(text)
    print("✓" if held else "✗", text)


def _bounds(below, above):
    """Return the bounds in words, or nothing when there are none."""
    for bound in (below, above):
        if bound is not None and (isinstance(bound, bool) or not isinstance(bound, Real)):
            raise TypeError(f"a bound is a number, not {bound!r}")
    if below is None:
        return "" if above is None else f"above {above}"
    if above is None:
        return f"below {below}"
    if above >= below:
        raise ValueError(f"nothing lies above {above} and below {below}")
    return f"between {above} and {below}"


def _scalar(value, bounds):
    """Return what was observed as a Python truth value or number, and check that it fits the bounds."""
    original = value
    if hasattr(value, "numpy") and not hasattr(value, "item"):
        value = value.numpy()
    if getattr(value, "ndim", 0) or getattr(value, "size", 1) == 0:
        raise TypeError(f"a claim observes one value, not an array of shape {tuple(value.shape)}")
    if hasattr(value, "item"):
        value = value.item()
    if not isinstance(value, Real):
        raise TypeError(f"a claim observes a truth value or a number, not {original!r}")
    if isinstance(value, bool) and bounds:
        raise TypeError(f"a truth value cannot lie {bounds}: give the claim a number, or no bound")
    if not isinstance(value, bool) and not bounds:
        raise ValueError(f"a claim about the number {value!r} needs a bound: below=, above= or both")
    return value if isinstance(value, int) else float(value)


def _holds(value, below, above):
    if isinstance(value, bool):
        return value
    return (below is None or value < below) and (above is None or value > above)


def _figure(value, *bounds):
    """Return a number to three digits, or in full where these would read like a bound."""
    short = str(value) if isinstance(value, int) else f"{value:.3g}"
    return repr(value) if any(b is not None and value != b and float(short) == b for b in bounds) else short


def _evidence(figures, bounds, held, attempts):
    """Return the figures, the bounds and the number of attempts in brackets, as far as there are any."""
    parts = [f"{', '.join(figures)}, {bounds}" if held else f"{', '.join(figures)}; not {bounds}"] if figures else []
    if attempts > 1:
        parts.append(f"at attempt {attempts}" if held else f"in {attempts} attempts")
    return f" ({'; '.join(parts)})" if parts else ""
