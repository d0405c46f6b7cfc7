"""What a build says at its end."""

from book.summary import summary


def test_a_build_ends_with_the_seconds_of_each_notebook_above_the_slowest_cells():
    facts = {"seconds": 12.3, "slowest": [[9.06, 2, "import time"], *([n, n, str(n)] for n in (1, 3, 2, 5, 4))]}
    notebooks = {"tiny": {"jax": {"metadata": {"d2l": facts}}}}
    assert summary(notebooks, ["jax"], [("tiny", "jax")]).split("\n") == [
        f"{'seconds':<20}{'JAX':>12}",
        f"{'tiny':<20}{'12*':>12}",
        "* ran now, the others were up to date",
        "the slowest cells:",
        "   9.1 s  tiny (jax), cell 2: import time",
        *(f"   {n}.0 s  tiny (jax), cell {n}: {n}" for n in (5, 4, 3, 2)),
    ]
    assert "12 \nall were up to date\n" in summary(notebooks, ["jax"], [])
    assert "12           – \nall were up to date\n" in summary(notebooks, ["jax", "mxnet"], [])


def test_a_build_names_the_notebooks_that_other_programs_disturbed():
    facts = {"seconds": 12.3, "slowest": [[9.06, 2, "import time"]]}
    runs = {f"s{n}": {"jax": {"metadata": {"d2l": facts | {"busy": n / 10}}}} for n in range(8)}
    (line,) = [line for line in summary(runs, ["jax"], []).split("\n") if "other programs" in line]
    assert line.endswith("busy: s2 (jax) 20%, s3 (jax) 30%, s4 (jax) 40%, s5 (jax) 50% and 2 more")
