"""Standing instructions: "always answer in British English", "from now on, deploys happen on Wednesdays".

An order is one of the task at hand unless it says itself that it lasts. What is said of a piece of work that
the same message asks for ("write a function; never use recursion") or of a part to play belongs to that work.
"""

from __future__ import annotations

import re
from pathlib import Path

from memtui.engine import word_lists
from memtui.engine.guards import role_play
from memtui.engine.guards.quotes import mask_quotes

_LIST = Path(__file__).with_name("instructions.txt")

MARKER = re.compile(word_lists.read_expression(_LIST, "marker"), re.IGNORECASE)
"""What makes the rest of a sentence last."""

_LONGEST_MESSAGE = 1_200  # a longer one with rules in it is somebody's guide or a prompt, pasted
_VERBS = word_lists.read_expression(_LIST, "VERBS")
_ALWAYS = re.compile(word_lists.read_expression(_LIST, "always"))
# Orders that people give each other in life as well: "always use sunscreen", "never answer the door".
_EVERYDAY = re.compile(word_lists.read_expression(_LIST, "everyday"))
_HOW_TO_ANSWER = re.compile(word_lists.read_expression(_LIST, "how to answer"))
_AT_WORK = re.compile(word_lists.read_expression(_LIST, "at work"))
# Written large against the proverb: "NEVER force push", "ALWAYS pin the versions".
_SHOUTED = re.compile(word_lists.read_expression(_LIST, "shouted"))
# "when you write code for me, ...": in which case an order holds.
_CASE_FIRST = re.compile(word_lists.read_expression(_LIST, "case first"))
_CASE_LAST = re.compile(word_lists.read_expression(_LIST, "case last"))
_ONCE = re.compile(rf"(?:you )?(?:please )?(?:(?:always|never|do not|only) )?{_VERBS}\b")
_MAKE = word_lists.read_expression(_LIST, "MAKE")
_EVERY_TIME = (
    rf"(?:in|for|to|with|of) (?:(?:every|any)thing (?:else )?(?:that )?you {_MAKE}(?: (?:for|to) (?:me|us))?|"
    rf"(?:(?:all|any|every)(?: the)? )?[\w-]+ (?:that )?you {_MAKE} (?:for|to) (?:me|us)|"
    r"(?:all|any|every(?: one)?)(?: of)? (?:your )?(?:answers?|repl(?:y|ies)|responses?|messages?|e-?mails?))"
)
# The same in German, French and Spanish, said of an order.
_IMMER = re.compile(word_lists.read_expression(_LIST, "immer"), re.IGNORECASE)
_LASTS = re.compile(rf"\b(?:from now on|going forward|henceforth|in future|{_EVERY_TIME})\W*$")
_PLEASE = re.compile(r"(?:please|pls|kindly),?\s+", re.IGNORECASE)
# Said of this task, of somebody else's rule, or for the sound of it.
_NOT_LASTING = re.compile(word_lists.read_expression(_LIST, "not lasting"))
_POINTS = re.compile(word_lists.read_expression(_LIST, "points"))
_CLAUSE = re.compile(word_lists.read_expression(_LIST, "clause"))
_YOU = re.compile(word_lists.read_expression(_LIST, "you"))
_NAME = re.compile(r"(?<=[a-z] )[A-Z][\w+#.]*")
# Who says "I" in a tale, a sum, a letter, a text to work on or a part to play need not be the writer of the message.
_ROLE_PLAY = "roleplay"
_TALE = re.compile(word_lists.read_expression(_LIST, "tale"))
_PLAY = re.compile(r"\b(?:let's play|play a game|role-?play|act as|pretend|you are an? )\b")
_ASKED_WORK = re.compile(word_lists.read_expression(_LIST, "asked work"))
# "Please always give weights in grams", beside a request for a recipe: said of every answer, not of this one.
_EVERY_ANSWER = re.compile(word_lists.read_expression(_LIST, "every answer"))
_SETS_UP = re.compile(word_lists.read_expression(_LIST, "sets up"))
_LONGEST_TALK = 400  # characters; a longer message with a request in it is one piece of work
# "Deploys happen only on Wednesdays"; nothing that merely sighs.
_STATES = re.compile(word_lists.read_expression(_LIST, "states"))


def asks_for_work(message: str) -> bool:
    """Whether the rules in a message are those of a piece of work, a part to play, or a pasted guide."""
    if len(message) > _LONGEST_MESSAGE or "```" in message:
        return True
    return bool(_ASKED_WORK.search(mask_quotes(message).casefold().replace("’", "'")))


def outlasts_work(sentence: str, message: str) -> bool:
    """Whether an order beside a request for a piece of work is of more than that work: "please always", "when you answer"."""
    if len(message) > _LONGEST_TALK or "```" in message:
        return False
    return (
        _EVERY_ANSWER.search(sentence.casefold().replace("’", "'")) is not None
        and _SETS_UP.search(mask_quotes(message).casefold().replace("’", "'")) is None
    )


def is_role_play(message: str) -> bool:
    """Whether a message sets up a game or a part, in which not even "from now on" lasts."""
    return bool(_PLAY.search(mask_quotes(message[:_LONGEST_MESSAGE]).casefold().replace("’", "'")))


def is_fiction(message: str) -> bool:
    """Whether somebody else may be speaking in a message: a figure of a story, a game or a sum, a text to work on."""
    plain = mask_quotes(message[:_LONGEST_MESSAGE]).casefold().replace("’", "'")
    if _TALE.search(plain):
        return True
    return _ROLE_PLAY in plain.replace("-", "") and not role_play.ends_part(message)


def politeness_length(text: str) -> int:
    """How many characters of politeness begin a text."""
    match = _PLEASE.match(text)
    return match.end() if match else 0


def is_order(text: str, plain: str, *, lasts: bool, of_work: bool) -> bool:
    """Whether ``text`` (``plain``: in small letters, long forms) is an order for good. ``lasts``: "from now on" stood
    before it; ``of_work``: the message asks for some work, of which the order may be.
    """
    plain, told_when = _CASE_FIRST.subn("", plain)
    plain, told_after = _CASE_LAST.subn("", plain)
    shouted = _SHOUTED.match(text) is not None
    of_answers = _HOW_TO_ANSWER.match(plain) is not None
    if not (_ONCE.match(plain) if lasts else (shouted or of_answers or _ALWAYS.match(plain)) and not of_work):
        return False
    everyday = None if lasts or shouted or of_answers or told_when or told_after else _EVERYDAY.match(plain)
    if everyday and not (_AT_WORK.search(plain, everyday.end()) or _NAME.search(text)):
        return False
    if _NOT_LASTING.search(plain) or _YOU.search(_without_you(plain)):
        return False
    if re.match(r"(?:Always|Never) [A-Z]", text):
        return False  # a title
    return of_answers or _POINTS.search(_CLAUSE.split(plain)[0]) is None


def ends_as_lasting(plain: str) -> bool:
    """Whether it ends in "from now on", or in "in anything you write for me"."""
    return _LASTS.search(plain) is not None


def says_it_lasts(plain: str) -> bool:
    """Whether it begins or ends by saying that it lasts."""
    return MARKER.match(plain) is not None or ends_as_lasting(plain)


def says_always_in_other_language(text: str) -> bool:
    """Whether it says in German, French or Spanish that it is for everything that is written."""
    return _IMMER.search(text) is not None


def is_rule(marker: str, plain: str) -> bool:
    """Whether what follows "from now on" states how something is done; "in the future" most things are said to be."""
    return (
        "future" not in marker.casefold()
        and _STATES.match(plain) is not None
        and _NOT_LASTING.search(plain) is None
    )


def _without_you(plain: str) -> str:
    """Without the "you" that every order means."""
    plain = re.sub(rf"\b{_EVERY_TIME}", "", plain)
    return re.sub(r"^(?:(?:i|we) (?:want|need|expect|would like|would prefer) you to|you) ", "", plain)
