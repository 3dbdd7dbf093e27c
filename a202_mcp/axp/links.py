"""Text that is nothing but links (axp 7.2; requirement A53): the exchange takes results inline only.

Rules this module applies:

- invisible characters, quotes, brackets, emphasis, list marks and HTML tags around an address do not make it a text;
- a marked link, `[words](address)` or `<a href="address">words</a>`, is one address, whatever its words;
- an address has a scheme, begins with `www.` or `//`, or is a host with a path. A bare name such as `a.md` is text.

Every pattern is linear in the text, however it is written: none can pass over the beginning of its next match.
"""

from __future__ import annotations

import re
import string
import unicodedata
from typing import Final

_INVISIBLE: Final = re.compile("[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
_MARKED: Final = re.compile(
    r"!?\[[^\[\]]{0,2000}\]\(\s{0,9}<?(?P<address>[^\s()\[\]<>]{1,2000})>?[^()\[\]]{0,300}\)", re.IGNORECASE)
_TAGGED: Final = re.compile(
    r"<(?:a|img)\s[^<>]{0,2000}?\b(?:href|src)\s{0,9}=\s{0,9}[\"']?(?P<address>[^\s\"'<>]{1,2000})[^<>]{0,2000}>"
    r"(?:[^<]{0,2000}</a\s{0,9}>)?", re.IGNORECASE)
_TAG: Final = re.compile(r"</?[a-z][a-z0-9]{0,20}(?:\s[^<>]{0,2000})?/?>", re.IGNORECASE)
_ORDINAL: Final = re.compile(r"\d{1,4}[.)]")
_QUOTES: Final = "\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb\u2013\u2014\u2022\u00b7"
_AROUND: Final = string.punctuation.replace("/", "") + _QUOTES
_ADDRESS: Final = re.compile(
    r"(?:[a-z][a-z0-9+.-]*:/|(?:https?|ftp|mailto|magnet):|//|www\.)\S+|(?:[\w-]+\.)+[^\W\d_]{2,}(?::\d+)?/\S*",
    re.IGNORECASE)


def is_nothing_but_links(content: str) -> bool:
    """True where every word of the content is an address."""
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", content))
    for marked in (_MARKED, _TAGGED):
        text = marked.sub(r" \g<address> ", text)
    words = [bare for word in _TAG.sub(" ", text).split()
             if not _ORDINAL.fullmatch(word) and (bare := word.strip(_AROUND))]
    return bool(words) and all(_ADDRESS.fullmatch(word) for word in words)
