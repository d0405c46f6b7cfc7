"""What other programs did to the machine while something was measured. Standard library only."""

from collections.abc import Callable
from dataclasses import dataclass

from d2l_lab.instruments.words import say

SHARE = 0.1  # of the cores: a measurement is disturbed if others took more
PACE = 0.75  # of the undisturbed one: below it the machine as a whole was slower


@dataclass(frozen=True)
class Disturbance:
    """How many of the `cores` others kept busy meanwhile, and the pace of a small reference, 1 if undisturbed."""

    others: float = 0.0
    cores: int = 0
    pace: float = 1.0

    @property
    def disturbed(self) -> bool:
        return self.others > SHARE * self.cores or self.pace < PACE

    def words(self, say: Callable[..., str] = say) -> str:
        """Return what was observed in the words of `say`, "" where nothing disturbed."""
        found = []
        if self.others > SHARE * self.cores:
            taken = f"{self.others:.1f}"
            found.append(say("other programs took {others} of {cores} cores", others=taken, cores=self.cores))
        if self.pace < PACE:
            found.append(say("the machine ran at {pace} of its pace", pace=f"{self.pace:.1f}"))
        return say(", and ").join(found)
