"""What a cell that draws leaves in a notebook."""


def only_svg(outputs):
    """Return the one picture among a cell's outputs, an SVG without a bitmap beside it."""
    (picture,) = outputs
    assert picture.data["image/svg+xml"].lstrip().startswith("<?xml")
    assert "image/png" not in picture.data
    return picture
