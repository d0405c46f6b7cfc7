"""python -m book.translations update              brings the catalogues that are there up to date with the sources
python -m book.translations update hardware     the same, and begins notebooks/locale/zh_CN/hardware.po
python -m book.translations check hardware      what is wrong with this catalogue, and how far it is
python -m book.translations check               the same for all catalogues
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from book import BookError
from book.layout import Layout
from book.translations import LANGUAGES, SOURCE
from book.translations.catalogues import all_templates, folder, messages, names, progress, read, update
from book.translations.checking import check


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = argparse.ArgumentParser(
        prog="python -m book.translations", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    result.add_argument("step", choices=("update", "check"))
    result.add_argument("catalogues", nargs="*", metavar="CATALOGUE", help="such as hardware or back/glossary")
    result.add_argument("--language", choices=[name for name in LANGUAGES if name != SOURCE], default="zh")
    result.add_argument("--root", type=Path, default=Path(), help="the folder of the project (default: this one)")
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Do one step; return the status to exit with: 1 where something has to be mended."""
    options = parser().parse_args(arguments)
    layout, language = Layout(options.root.resolve()), LANGUAGES[options.language]
    place = folder(layout, language)
    try:
        if options.step == "update":
            for name, state in update(layout, language, options.catalogues).items():
                print(f"{(place / name).relative_to(layout.root)}.po: {state}")
            return 0
        wrong, news = 0, all_templates(layout)
        for name in options.catalogues or names(place):
            if not (place / f"{name}.po").exists():
                raise BookError(f"there is no catalogue {name}; `python -m book.translations update {name}` begins it")
            found = list(check(layout, language, name))
            wrong += len(found)
            texts = [message.id for message in messages(news[name])] if name in news else []
            state = progress(read(place / f"{name}.po", language), texts)
            print(*found, f"{name}: {state}, {len(found)} to mend", sep="\n")
    except BookError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.status
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
