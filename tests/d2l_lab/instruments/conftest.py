"""What every test of the instruments starts from: nothing was disturbed before."""

import pytest

from d2l_lab.instruments import claims, predictions


@pytest.fixture(autouse=True)
def calm():
    """Forget what other tests measured."""
    predictions.rest_on(predictions.Disturbance())
    for looked_last in (claims, predictions):
        looked_last._disturbed.since()
