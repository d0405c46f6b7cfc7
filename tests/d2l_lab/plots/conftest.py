"""Figures that no window shows, and that are gone after each test; cells that Jupyter executes."""

import matplotlib
import nbformat
import pytest
from matplotlib import pyplot as plt
from nbclient import NotebookClient

matplotlib.use("agg")


@pytest.fixture(autouse=True)
def _fresh_figures():
    with matplotlib.rc_context():
        yield
    plt.close("all")


@pytest.fixture
def axes():
    return plt.figure(figsize=(6.5, 3), layout="constrained").add_subplot()


class Client(NotebookClient):
    """Executes a notebook and counts the messages that show or change a picture, by cell, in `drawn`."""

    def process_message(self, msg, cell, cell_index):
        if msg["msg_type"] in ("display_data", "update_display_data"):
            self.drawn[cell_index].append(msg["msg_type"].removesuffix("_data"))
        return super().process_message(msg, cell, cell_index)


@pytest.fixture(scope="session")
def executed():
    """A function that executes cells and returns, cell by cell, the messages about pictures and the outputs."""

    def execute(*sources):
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
        client = Client(notebook, timeout=60, kernel_name="python3", allow_errors=True)
        client.drawn = [[] for _ in sources]
        client.execute()
        return client.drawn, [cell.outputs for cell in notebook.cells]

    return execute
