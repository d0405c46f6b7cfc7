"""The executed notebooks of all frameworks as one notebook that Sphinx reads; touches no file."""

import re

from book import FRAMEWORKS, BookError
from book.cells import notebook_of, short_hash
from book.outputs import claims, code_cells


def merge(entries, frameworks, executed, name):
    """Return the merged notebook of a section's Entries.

    `executed` maps each framework that has up-to-date outputs to its executed notebook; a page says which lack.
    """
    ran = {
        framework: {cell["id"]: cell["outputs"] for cell in code_cells(executed[framework])} for framework in executed
    }
    cells = []
    for entry in entries:
        if entry.framework in (None, *frameworks):
            cells += merged_code(entry, frameworks, ran, name) if entry.kind == "code" else [merged_markdown(entry)]
    if lacking := [framework for framework in frameworks if framework not in executed]:
        say_not_run(cells, lacking if executed else [])
    facts = {framework: facts_of(ran["metadata"]["d2l"]) for framework, ran in executed.items()}
    notebook = notebook_of(frameworks[0], cells)
    notebook["metadata"]["d2l"] = {"frameworks": facts}
    return notebook


def facts_of(run):
    """Return what a page tells of a run."""
    return {name: run[name] for name in ("seconds", "date", "machine", "versions")}


def say_not_run(cells, lacking):
    """Say under the title that the section was not run in this build, or not in the frameworks `lacking`."""
    words = f" in {', '.join(FRAMEWORKS[framework] for framework in lacking)}" if lacking else ""
    lines = cells[0]["source"].split("\n")
    title = next((row for row, line in enumerate(lines) if line.startswith("# ")), -1)
    lines[title + 1 : title + 1] = ["", f"This section was not run{words} in this build: `make book` runs it.", ""]
    cells[0]["source"] = "\n".join(lines)


def merged_markdown(entry):
    """Return a cell of prose: a framework's prose inside the directive {framework}."""
    source = entry.source
    if entry.framework:
        fence = "`" * max(6, 1 + max(map(len, re.findall("`+", source)), default=0))
        source = f"{fence}{{framework}} {entry.framework}\n{source}\n{fence}"
    return {"cell_type": "markdown", "id": entry.id, "metadata": {}, "source": source}


def merged_code(entry, frameworks, ran, name):
    """Return the cells that show an entry: one, or where the outputs differ one more for each framework."""
    tags = [*entry.tags, *(["claims"] if entry.only_claims else [])]
    if entry.framework:
        outputs = ran.get(entry.framework, {}).get(entry.id, [])
        return [shown(entry, entry.id, outputs, [entry.framework, *tags], name)]
    shows = {framework: uncounted(ran[framework][entry.id]) for framework in frameworks if framework in ran}
    first, *others = shows.values() or [[]]
    if all(other == first for other in others) and len(shows) in (0, len(frameworks)):
        return [shown(entry, entry.id, first, tags, name)]
    kept = ["remove-input", *(tag for tag in tags if tag == "solution")]
    return [shown(entry, entry.id, [], tags, name)] + [
        shown(entry, short_hash("o", entry.id, framework), outputs, [framework, *kept], name)
        for framework, outputs in shows.items()
    ]


def uncounted(outputs):
    """Return `outputs` without execution counts, which differ where nothing else does."""
    return [output | {"execution_count": None} if "execution_count" in output else output for output in outputs]


def shown(entry, id, outputs, tags, name):
    """Return a code cell of the merged notebook."""
    metadata = {"tags": tags} if tags else {}
    pictures = [output for output in outputs if any(mime.startswith("image/") for mime in output.get("data", {}))]
    if pictures:
        alt = entry.alt or described(pictures[0])
        if not alt:
            raise BookError(f"{name}, {entry.place}: a picture without words; give the cell a line :alt: …")
        metadata["mystnb"] = {"image": {"alt": alt}}
    return {
        "cell_type": "code",
        "id": id,
        "metadata": metadata,
        "source": entry.source,
        "execution_count": None,
        "outputs": uncounted(outputs),
    }


def described(output):
    """Return the text alternative that the picture's maker put into the output, or None."""
    abouts = output.get("metadata", {}).values()
    return next((about["alt"] for about in abouts if isinstance(about, dict) and about.get("alt")), None)


def all_claims(notebook, section):
    """Return the claims of a merged notebook; one of all frameworks counts for each of them."""
    frameworks = list(notebook["metadata"]["d2l"]["frameworks"])
    found = [
        {"section": section, "framework": framework, "cell": cell["id"]}
        | {"held": claim["held"], "sentence": claim["sentence"]}
        for cell in code_cells(notebook)
        for claim in claims(cell)
        for framework in [tag for tag in cell["metadata"].get("tags", []) if tag in frameworks] or frameworks
    ]
    return sorted(found, key=lambda claim: frameworks.index(claim["framework"]))
