"""What happens once and is true ever after: a cat adopted, a house bought, a job left; what a team settled on.

Such a sentence may well say "yesterday": it is kept with its date.
"""

from __future__ import annotations

import re

from memtui.engine.models.ner.gazetteer import is_given_name

from .statement_shapes import FAMILY

_HOME = r"(?:house|flat|apartment|home|cottage|farm|cabin|place of our own|plot|allotment)"
_ANIMAL = r"(?:dog|cat|puppy|kitten|horse|pony|rabbit|hamster|parrot|bird|tortoise|greyhound|pet|hens?|chickens?|cats|dogs)"
_CHILD = r"(?:baby|son|daughter|child|boy|girl|twins)"
_GROUP = r"(?:company|firm|team|start-?up|department|band|board|agency|club|business)"
_ENDS = r"(?=[,.!;]|$| (?:yesterday|today|this|last|on|in|at|and|called|named|together)\b)"
_WHO = (
    r"(?:i|we|my [a-z]+ and i|[a-z]+ and i) (?:have |just |finally |also |recently |actually |officially )*"
)

_LIFE = re.compile(
    rf"{_WHO}(?:adopted (?:an?|our|two|three|the) (?:[\w-]+ ){{0,3}}(?:{_ANIMAL}|{_CHILD})\b|"
    rf"got (?:married|engaged|divorced|promoted|laid off|fired|(?:an?|our|two) (?:[\w-]+ ){{0,2}}{_ANIMAL}\b|"
    rf"(?:a|the) (?:new )?job\b(?! (?:done|to)))|(?:was|were|been) (?:promoted|laid off|made redundant|hired)|"
    rf"(?:bought|sold|signed for) (?:an?|our|my|the) (?:[\w-]+ ){{0,2}}{_HOME}\b(?! (?:insurance|plant|wine|phone))|"
    rf"signed (?:the|a|our|my) (?:lease|mortgage)\b|"
    rf"moved (?:into (?:an?|our|my) (?:[\w-]+ ){{0,2}}{_HOME}|in (?:together|with my)|house\b)|"
    rf"quit my job|resigned (?:from|as)|handed in my (?:notice|resignation)|left (?:my job|the {_GROUP})\b|"
    rf"started (?:my|a) new job|became (?:parents|grandparents|an? (?:[\w-]+ )?(?:father|mother|dad|mum|mom|uncle|aunt|"
    rf"citizen))|had (?:an? |our )?(?:first |second |third |little |healthy )*(?:{_CHILD})(?: (?:girl|boy))?{_ENDS}|broke up\b|"
    rf"separated\b|lost my job)"
)
# With a name after it, which only its capital tells.
_NAMED_LIFE = re.compile(
    r"(?i:I|We)(?:'ve| have| just| finally| also| recently)* (?:moved (?:back )?to (?!Line|Step|Page)[A-Z]|"
    r"(?:started|began)(?: working)? (?:at|with) (?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)[A-Z]|joined [A-Z]|"
    r"left (?!Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)[A-Z][\w&-]+(?: [A-Z][\w&-]+)?"
    r"(?: (?:after \w+ years?|last (?:month|year|spring|summer|autumn|winter)|in (?:19|20)\d\d|for a (?:new )?job)\b.*)?"
    r"[.!]*$)"
)
_SOMEBODYS = re.compile(
    rf"(?:has |just |finally |officially |is |and [a-z]+ (?:have |just )*)*(?:(?:left|joined|quit|leaving|joining) "
    rf"(?:the|our|my) {_GROUP}\b|got (?:married|engaged|divorced|promoted)\b|"
    rf"had (?:a (?:little |baby )?(?:baby|son|daughter|girl|boy)|twins){_ENDS})"
)
_RELATIVES = re.compile(rf"(?:my|our) (?:[\w-]+ )?{FAMILY} (?:[a-z]+ )??{_SOMEBODYS.pattern}")
_PUT_TO_USE = re.compile(
    r"(?:we|our team|our company) (?:now |all |also |currently |still |mostly )*(?:use|are using) "
    r"(?!.*\b(?:here|above|below|equation|theorem|proof|formula|argument|exercise)\b)"
    r"(?!it\b|an? |the |this|that|these|those|them\b|some |each |every|one\b|two\b|our |his |her |their |x\b|words?\b|"
    r"recursion|induction|integration|substitution|loops?\b|variables?|functions?|lists?\b|formulas?|theorems?|lemmas?|"
    r"notation|algebra|statistics|what|which|more|less|up\b)"
    r"[\w.+#/&-]+(?: [\w.+#/&-]+){0,2}? "
    r"(?:for (?!(?:this|that|it|now|the (?:proof|first|next|last|second|rest)|example|instance|calculating|computing)\b)\w|"
    r"as (?:our|the|a)\b|instead of|everywhere|at work|in production|on all|across|throughout)"
)
_USED_BY_NAME = re.compile(
    r"We (?:now |all |also )?use [A-Z][\w.+#-]*(?:(?:,| and|, and) [A-Z][\w.+#-]*)*[.!]*$"
)
_SWITCHED = re.compile(
    r"(?:we|our team|our company) (?:have |just |finally |recently |now |all )*"
    r"(?:migrated|switched to|standardi[sz]ed on|went with|"
    r"moved (?:over|away) (?:to|from)|upgraded to|rolled out|dropped support for|agreed on|settled on) "
    r"(?!it\b|that|this|them|the (?:first|second|next|last))\S+"
)
MOMENT = re.compile(r"\b(?:today|tonight|this (?:morning|afternoon|evening)|yesterday|last night)\b")
_UNDONE = re.compile(
    r"\b(?:almost|nearly|never|in (?:my|the) (?:dream|game|book|novel|story)|fell through)\b"
)


def life_event(text: str, plain: str) -> bool:
    """Whether it tells what has changed for good in the person's life."""
    if _UNDONE.search(plain):
        return False
    return bool(_LIFE.match(plain) or _NAMED_LIFE.match(text))


def family_event(text: str, plain: str) -> bool:
    """The same of one of the family, or of somebody called by what is a first name beyond doubt."""
    if _UNDONE.search(plain):
        return False
    first = re.match(r"([A-Z][^\W\d_]+) ", text)
    if first is not None and is_given_name(first[1].casefold()) and _SOMEBODYS.match(plain, first.end()):
        return True
    return _RELATIVES.match(plain) is not None


def team_decision(text: str, plain: str) -> bool:
    """Whether it tells what the person's team works with."""
    return bool(_PUT_TO_USE.match(plain) or _USED_BY_NAME.match(text) or _SWITCHED.match(plain))
