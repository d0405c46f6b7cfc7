"""The switch of the rack and the links to it: holds every packet for as long as its two links would take.

A packet of p bytes leaves its host when those before it have left, takes p / rate seconds, and enters the other host
`delay` seconds later, when those before it have entered. `python -m rack.switch RATES DELAY FILE…`: for each
host its link's bytes/s each way, separated by commas, seconds, and for each host the number of the open file that
stands for its network card.
"""

import heapq
import os
import select
import sys
from collections.abc import Sequence
from itertools import count
from time import perf_counter

PACKET = 9000  # bytes that a card sends at most: what racks call a jumbo frame
QUEUE = 4  # packets that wait for a link
DESTINATION = 19  # the place of the last byte of the receiver's address in an IPv4 packet


class Links:
    """The links of hosts, each with a rate in bytes/s, and a delay in seconds; times are seconds of any one clock.

    `up_free` and `down_free` hold when each host's link is free in each direction.
    """

    def __init__(self, rates: Sequence[float], delay: float) -> None:
        self.rates, self.delay = rates, delay
        self.up_free, self.down_free = [0.0] * len(rates), [0.0] * len(rates)

    def arrival(self, now: float, source: int, destination: int, size: int) -> float:
        """Return when a packet of `size` bytes that host `source` sends now has reached host `destination` whole."""
        start = max(now, self.up_free[source])
        self.up_free[source] = start + size / self.rates[source]
        begins = max(start + self.delay, self.down_free[destination])
        through = begins + size / self.rates[destination]
        self.down_free[destination] = max(through, self.up_free[source] + self.delay)  # not before it has left whole
        return self.down_free[destination]


def forward(cards: list[int], links: Links) -> None:
    """Forward packets for ever. A host's further packets wait in its card while QUEUE packets wait for its link.

    TCP's acknowledgements wait behind their host's data, so a longer queue would stall the other hosts.
    """
    ahead = [QUEUE * PACKET / rate for rate in links.rates]
    waiting: list[tuple[float, int, int, bytes]] = []  # a heap by time of arrival
    order = count()
    while True:
        now = perf_counter()
        while waiting and waiting[0][0] <= now:
            *_, card, packet = heapq.heappop(waiting)
            os.write(card, packet)
        free = [leaves - queued for leaves, queued in zip(links.up_free, ahead, strict=True)]
        ready = {card: host for host, card in enumerate(cards) if free[host] <= now}
        events = [then for then in free if then > now] + [due for due, *_ in waiting[:1]]
        for card in select.select(ready, [], [], max(0, min(events) - now) if events else None)[0]:
            packet = os.read(card, PACKET)
            host = packet[DESTINATION] - 1
            if packet[0] >> 4 == 4 and host < len(cards):  # cards also ask for routers of IPv6
                due = links.arrival(perf_counter(), ready[card], host, len(packet))
                heapq.heappush(waiting, (due, next(order), cards[host], packet))


if __name__ == "__main__":
    cards = [int(word) for word in sys.argv[3:]]
    forward(cards, Links([float(rate) for rate in sys.argv[1].split(",")], float(sys.argv[2])))
