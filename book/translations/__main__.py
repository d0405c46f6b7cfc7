"""Keep the translations of the book:

python -m book.translations update            begins catalogues and brings them up to date with the sources
python -m book.translations check             what has to be mended, and how much is translated
python -m book.translations check hardware    the same of one catalogue, notebooks/locale/zh_CN/hardware.po
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from book import BookError, keep_grammars_out
from book.layout import Edition
from book.translations import LANGUAGES
from book.translations.catalogues import folder, names
from book.translations.check import check
from book.translations.lookup import Translations
from book.translations.update import translatable, update


def main(arguments: Sequence[str] | None = None) -> int:
    """Do one step; return the status to exit with: 1 if something has to be mended."""
    parser = argparse.ArgumentParser(
        prog="python -m book.translations", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=("update", "check"))
    parser.add_argument("catalogues", nargs="*", metavar="CATALOGUE", help="check only these, such as back/glossary")
    parser.add_argument("--language", choices=LANGUAGES, default="zh")
    parser.add_argument("--root", type=Path, default=Path(), help="the folder of the project (default: this one)")
    options = parser.parse_args(arguments)
    edition, language = Edition(options.root.resolve()), LANGUAGES[options.language]
    problems = []
    try:
        if options.step == "update":
            chosen = update(edition, language)
        else:
            there = names(folder(edition, language))
            unknown = [name for name in options.catalogues if name not in there]
            if unknown:
                raise BookError(f"there is no catalogue {unknown[0]!r}: name one of {', '.join(there)}")
            chosen = options.catalogues or there
            problems = list(check(edition, language, chosen))
        if problems:
            print(*problems, f"{len(problems)} translations to mend", sep="\n")
        translations = Translations(edition, language)
        for name, texts in translatable(edition).items():
            if name in chosen:
                print(f"{name}: {translations.coverage(name, [text for text, _ in texts])}")
    except BookError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.status
    return 1 if problems else 0


if __name__ == "__main__":
    keep_grammars_out()
    sys.exit(main())
