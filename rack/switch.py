"""The switch of the rack and the links to it: holds every packet for as long as its two links would take.

A packet of p bytes leaves its host when those before it have left, takes p / rate seconds, and enters the other host
`delay` seconds later, when those before it have entered. `python -m rack.switch RATE DELAY FILE…`: bytes/s each way,
seconds, and for each host the number of the open file that stands for its network card.
"""

import heapq
import os
import select
import sys
from itertools import count
from time import perf_counter

PACKET = 9000  # bytes that a card sends at most: what racks call a jumbo frame
QUEUE = 4  # packets that wait for a link
DESTINATION = 19  # the place of the last byte of the receiver's address in an IPv4 packet


class Links:
    """The links of n hosts; `leaving` and `entering` say when each is free. Times are seconds of any one clock."""

    def __init__(self, n, rate, delay):
        self.rate, self.delay = rate, delay
        self.leaving, self.entering = [0.0] * n, [0.0] * n

    def arrival(self, now, source, to, size):
        """Take a packet of `size` bytes that host `source` sends now; return when host `to` has all of it."""
        start = max(now, self.leaving[source])
        self.leaving[source] = start + size / self.rate
        self.entering[to] = max(start + self.delay, self.entering[to]) + size / self.rate
        return self.entering[to]


def forward(cards, links):
    """Hand packets on for ever. A host keeps to itself what its link would not begin with while QUEUE packets pass.

    The confirmations that TCP sends wait behind the data of their host: more than QUEUE packets would stall others.
    """
    ahead = QUEUE * PACKET / links.rate
    waiting, order = [], count()  # a heap by time of arrival
    while True:
        now = perf_counter()
        while waiting and waiting[0][0] <= now:
            *_, card, packet = heapq.heappop(waiting)
            os.write(card, packet)
        free = [leaving - ahead for leaving in links.leaving]
        ready = {card: host for host, card in enumerate(cards) if free[host] <= now}
        events = [then for then in free if then > now] + [due for due, *_ in waiting[:1]]
        for card in select.select(ready, [], [], max(0, min(events) - now) if events else None)[0]:
            packet = os.read(card, PACKET)
            to = packet[DESTINATION] - 1
            if packet[0] >> 4 == 4 and to < len(cards):  # cards also ask for routers of IPv6
                due = links.arrival(perf_counter(), ready[card], to, len(packet))
                heapq.heappush(waiting, (due, next(order), cards[to], packet))


if __name__ == "__main__":
    cards = [int(word) for word in sys.argv[3:]]
    forward(cards, Links(len(cards), float(sys.argv[1]), float(sys.argv[2])))
