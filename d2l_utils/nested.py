"""Arrays inside lists, tuples and dictionaries."""


def arrays_in(structure, kind):
    """Return the arrays of type `kind` in nested lists, tuples and dictionaries; other things in them are passed over.

    Raises TypeError when `structure` holds no array at all.
    """
    found = [thing for thing in _leaves(structure) if isinstance(thing, kind)]
    if not found:
        raise TypeError(f"there is no array of this framework in {type(structure).__name__} {structure!r:.60}")
    return found


def _leaves(structure):
    if isinstance(structure, dict):
        structure = list(structure.values())
    if not isinstance(structure, (list, tuple)):
        return [structure]
    return [leaf for part in structure for leaf in _leaves(part)]
