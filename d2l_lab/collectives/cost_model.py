"""The time of an all-reduce by each algorithm, from the time of one message. Standard library only.

A message of S bytes takes alpha + S / b seconds, with the latency alpha in seconds and the bandwidth b in bytes per
second. Each link carries both directions at once, and links do not slow each other down. Each of n ranks starts with
S bytes and ends with the sum of all.
"""


def star_time(n: int, S: float, alpha: float, b: float) -> float:
    """Return the seconds of a star: rank 0 gathers n - 1 arrays one after another and sends the sum to each rank."""
    return 2 * (n - 1) * (alpha + S / b)


def ring_time(n: int, S: float, alpha: float, b: float) -> float:
    """Return the seconds of a ring (Patarasuk and Yuan 2009): 2 (n - 1) steps of S / n bytes each."""
    return 2 * (n - 1) * (alpha + S / n / b)
