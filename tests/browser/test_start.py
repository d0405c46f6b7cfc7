"""How Chromium is started."""

from conftest import launch_options


def test_only_root_starts_chromium_without_its_sandbox():
    assert [launch_options(user)["chromium_sandbox"] for user in (0, 1000)] == [False, True]
    assert "--no-sandbox" not in launch_options(0)["args"]
