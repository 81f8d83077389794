"""What a person says about themself that lasts: the shapes of such sentences, class by class (``statement_shapes.txt``).

Matched against a sentence in small letters with contractions written out ("i am", "do not"), at its very
beginning, after lead-ins such as "well," were taken off. The first class that fits gives the tags.
"""

from __future__ import annotations

import re
from pathlib import Path

from memtui.engine import word_lists

_LIST = Path(__file__).with_name("statement_shapes.txt")

FAMILY = word_lists.read_expression(_LIST, "FAMILY")
PEOPLE = word_lists.read_expression(_LIST, "PEOPLE")

# (tags, pattern). {I} statements first; "my sister Ada ..." and the person's known people after them.
CLASSES: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = tuple(
    ((section.partition(":")[0],), re.compile(word_lists.read_expression(_LIST, section)))
    for section in word_lists.read_sections(_LIST)
    if section[0].islower()
)
CORRECTION = re.compile(word_lists.read_expression(_LIST, "CORRECTION"))
CORRECTING = re.compile(word_lists.read_expression(_LIST, "CORRECTING"))
KNOWN_PERSON = re.compile(word_lists.read_expression(_LIST, "KNOWN_PERSON"))
INTRODUCED = re.compile(word_lists.read_expression(_LIST, "INTRODUCED"))
NAMED_FIRST = re.compile(word_lists.read_expression(_LIST, "NAMED_FIRST"))
