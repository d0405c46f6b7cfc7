"""The time of an all-reduce by each algorithm, from the time of one message. Standard library only.

A message of S bytes takes alpha + S / b seconds: alpha in seconds, b in bytes per second, each link both ways at once
and no link slower for what the others carry. Of n ranks each begins with S bytes and ends with the sum of all.
"""

from math import ceil, log2


def star_time(n, S, alpha, b):
    """Return the seconds of a star: rank 0 gathers n - 1 arrays one by one and sends the sum back as often."""
    return 2 * (n - 1) * (alpha + S / b)


def tree_time(n, S, alpha, b):
    """Return the seconds of a binomial tree that reduces and then broadcasts (Thakur et al. 2005)."""
    return 2 * ceil(log2(n)) * (alpha + S / b)


def ring_time(n, S, alpha, b):
    """Return the seconds of a ring (Patarasuk and Yuan 2009): 2 (n - 1) steps of S / n bytes each."""
    return 2 * (n - 1) * (alpha + S / n / b)


def server_time(m, s, S, alpha, b):
    """Return the seconds of a push and a pull: m workers, each of s servers has S / s bytes (Li et al. 2014).

    Workers send to one server after another, servers answer one worker after another: the larger number waits.
    """
    return 2 * max(m, s) * (alpha + S / s / b)


def hierarchical_time(r, N, S, inside, outside):
    """Return the seconds of a ring in each of N hosts with r ranks and of r rings between them, each of S / r bytes.

    `inside` and `outside` are pairs of alpha and b; b outside is what one rank has of its host's link.
    """
    return ring_time(r, S, *inside) + ring_time(N, S / r, *outside)


def bus_bandwidth(n, S, seconds):
    """Return the bytes per second that nccl-tests call bus bandwidth: what each rank must send, over the time."""
    return 2 * (n - 1) / n * S / seconds
