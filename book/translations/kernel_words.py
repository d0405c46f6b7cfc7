"""What the records of a translation's notebooks say, as the file that lies beside them."""

import json
from collections.abc import Callable

from book.layout import Edition
from book.translations.catalogues import LINES
from book.translations.lookup import Translations
from book.translations.printed import translation_of_printed
from book.translations.said import PACKAGES, SAID, fixed_texts


def printed(edition: Edition, translations: Translations) -> Callable[[str], str]:
    """Return a function that translates what cells have printed by our packages and by themselves."""
    translate = translations.of("pages")
    all_texts, lines, tables = (
        [text for package in PACKAGES[1:] for text, _ in fixed_texts(edition.root / package, functions)]
        for functions in (SAID, ["say_line"], ["say_each"])
    )
    fixed = {text: words for text in all_texts if (words := translate(text))}
    own = {text: words for text in translations.messages[LINES] if (words := translations.of(LINES)(text))}
    whole, cells = ({text: fixed[text] for text in texts if text in fixed} for texts in (lines, tables))
    return translation_of_printed(whole, cells, fixed, translations.filled("records"), own)


def words_of(edition: Edition) -> str:
    """Return the file that lies beside the notebooks of a translation, for `d2l_lab.instruments.words`."""
    assert edition.language
    translations = Translations(edition, edition.language)
    fixed = [text for package in PACKAGES[1:] for text, _ in fixed_texts(edition.root / package)]
    texts = {"fixed": ("pages", fixed), "records": ("records", translations.messages["records"])}
    found = {part: {text: translations.of(name)(text) for text in each} for part, (name, each) in texts.items()}
    known = {part: {text: words for text, words in each.items() if words} for part, each in found.items()}
    return json.dumps(known, ensure_ascii=False, indent=1) + "\n"
