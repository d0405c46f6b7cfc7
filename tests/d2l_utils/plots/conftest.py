"""Figures that no window shows, and that are gone after each test."""

import matplotlib
import pytest
from matplotlib import pyplot as plt

matplotlib.use("agg")


@pytest.fixture(autouse=True)
def _fresh_figures():
    with matplotlib.rc_context():
        yield
    plt.close("all")


@pytest.fixture
def axes():
    return plt.figure(figsize=(6.5, 3), layout="constrained").add_subplot()
