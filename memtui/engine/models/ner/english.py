"""Whether a text is English, for models that know nothing else."""

from __future__ import annotations

import re

from .words import word_set

_word = re.compile(r"[^\W\d_]+")
_LOOKED_AT = 2_000

# Words that only one of the two sides uses, or almost.
_ENGLISH = word_set(
    """
    the and is of to for with that this was are my i it you she he they we at from by not be have has had will would
    can could should do does did your his her their our its as if but what when who how which there been were or so about
    after before because into over than then them us out up just like now new next last every please
    """
)
_OTHER = word_set(
    """
    der die das und ist nicht ich ein eine mit auf den im zu wir sie hat für dem von bei sich noch nach mein meine am
    le la les un une des et est dans avec pour sur pas je tu il elle nous vous au aux ce cette que qui chez de du
    el los las una y en con por para su mi se no es lo del al como más
    o os as um uma e com em não do da na eu ela ele seu sua
    il lo gli di che per non è sono della nel alla domani
    het een en van ik niet met voor zijn op te dat bij naar zij hij
    w z na się nie jest do to jak od och att det är jag som på för med av ett den til og jeg ikke
    """
)


def is_english(text: str) -> bool:
    """A guess from its letters and its small words; a few words with neither count as English."""
    words = _word.findall(text[:_LOOKED_AT].lower())
    letters = sum(map(len, words))
    if sum(len(word) for word in words if not word.isascii()) * 3 > letters:
        return False
    english = sum(word in _ENGLISH for word in words)
    other = sum(word in _OTHER for word in words)
    return english >= other
