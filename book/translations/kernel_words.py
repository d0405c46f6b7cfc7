"""What the records of a translation's notebooks say, as the file that lies beside them."""

import json

from book.layout import Edition
from book.translations.lookup import Translations
from book.translations.update import PACKAGES, fixed_texts


def words_of(edition: Edition) -> str:
    """Return the file that lies beside the notebooks of a translation, for `d2l_lab.instruments.words`."""
    assert edition.language
    translations = Translations(edition, edition.language)
    fixed = [text for package in PACKAGES[1:] for text, _ in fixed_texts(edition.root / package)]
    texts = {"fixed": ("pages", fixed), "records": ("records", translations.messages["records"])}
    found = {part: {text: translations.of(name)(text) for text in each} for part, (name, each) in texts.items()}
    known = {part: {text: words for text, words in each.items() if words} for part, each in found.items()}
    return json.dumps(known, ensure_ascii=False, indent=1) + "\n"
