"""python -m book build        all that the HTML pages are made of; runs the notebooks that are out of date
python -m book notebooks    the readers' notebooks, copied to work/ for their readers; runs nothing
python -m book handouts     the same without solutions and answers
python -m book slides       a deck for each section from the outputs that are there; runs nothing
python -m book site         the pages with what was built of e-books, PDFs, slides and bundles; runs nothing
python -m book bundle       all of the readers' notebooks as zips that run anywhere
python -m book profile      what this machine can do, measured anew
"""

import argparse
import errno
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from book import FRAMEWORKS, BookError, keep_grammars_out
from book.layout import Edition
from book.translations import LANGUAGES
from book.working_copies import copy_notebooks, rescue
from d2l_lab.files import locked

NOT_YOURS = "it belongs to another user, or its disk can only be read: copy the project to a folder of your own"
CURES = {
    errno.ENOSPC: "make room on that disk, and run make again",
    errno.EDQUOT: "your quota there is used up: make room, and run make again",
    errno.EACCES: NOT_YOURS,
    errno.EPERM: NOT_YOURS,
    errno.EROFS: NOT_YOURS,
}


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(
        prog="python -m book", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    result.add_argument("step", choices=("build", "notebooks", "handouts", "slides", "site", "bundle", "profile"))
    result.add_argument("--root", type=Path, default=Path(), help="the folder of the project (default: this one)")
    result.add_argument("--frameworks", nargs="+", default=list(FRAMEWORKS), metavar="FRAMEWORK")
    result.add_argument("--sections", nargs="+", metavar="SECTION", help="those to run or show (default: all)")
    result.add_argument("--languages", nargs="*", choices=LANGUAGES, default=[], help="build translations as well")
    result.add_argument("--timeout", type=int, default=300, help="seconds that a cell may take (default: 300)")
    return result


def checked(chosen: Sequence[str], known: Collection[str], what: str) -> list[str]:
    """Return those of `known` that are chosen, in the book's order; raise BookError for others."""
    for word in chosen:
        if word not in known:
            raise BookError(f"unknown {what}: {word}; known: {' '.join(known)}")
    return [word for word in known if word in chosen]


def main(arguments: Sequence[str] | None = None) -> int:
    """Do one step; return the status to exit with."""
    from book import build, bundle
    from book.sources import slugs

    options = parser().parse_args(arguments)
    edition = Edition(options.root.resolve())
    editions = [edition, *(Edition(edition.root, LANGUAGES[code]) for code in options.languages)]
    try:
        frameworks = checked(options.frameworks, FRAMEWORKS, "framework")
        sections = checked(options.sections or slugs(edition), slugs(edition), "section")
        # Two builds at once would spoil each other's measurements.
        with locked(edition.build / ".lock", "another build of this project is running: waiting until it is done"):
            rescue(edition.root)
            if options.step in ("notebooks", "handouts"):
                for each in editions:
                    build.write_notebooks(each, frameworks, answers=options.step == "notebooks")
                    if options.step == "notebooks":
                        copy_notebooks(each, frameworks)
                if options.step == "handouts":
                    print(f"without solutions: {edition.build / 'handouts'}")
            elif options.step == "slides":
                from book.slides.writing import write_decks

                for each in editions:
                    write_decks(each, frameworks, sections)
            elif options.step == "site":
                from book.site import write_site

                print(f"the site: {write_site(edition) / 'index.html'}")
            elif options.step == "bundle":
                for each in editions:
                    build.write_notebooks(each, frameworks)
                    bundle.write_bundles(each, frameworks)
            elif options.step == "profile":
                build.measure_anew(edition, frameworks)
            else:
                build.build(editions, frameworks, sections, options.timeout)
    except BookError as error:
        print(f"error: {error}", *getattr(error, "__notes__", []), sep="\n", file=sys.stderr)
        return error.status
    except IsADirectoryError as error:
        print(f"error: {error.filename2 or error.filename} is a folder, not a file: move it away", file=sys.stderr)
        return 1
    except OSError as error:
        if error.errno not in CURES:
            raise
        print(f"error: {error}: {CURES[error.errno]}; what is finished is kept", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    keep_grammars_out()
    sys.exit(main())
