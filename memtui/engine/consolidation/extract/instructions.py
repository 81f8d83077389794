"""Standing instructions: "always answer in British English", "from now on, deploys happen on Wednesdays".

An order is one of the task at hand unless it says itself that it lasts. What is said of a piece of work that
the same message asks for ("write a function; never use recursion") or of a part to play belongs to that work.
"""

from __future__ import annotations

import re

from .sentences import mask

MARKER = re.compile(
    r"(?:please,? )?(?:from (?:now|today|this (?:day|point|moment)|here|tomorrow|(?:mon|tues|wednes|thurs|fri|satur|"
    r"sun)day|next (?:week|month))(?: on(?:wards?)?| forward)|going forward|henceforth|in (?:the )?future)\b,?:?\s*",
    re.IGNORECASE,
)
"""What makes the rest of a sentence last."""

_LONGEST_MESSAGE = 1_200  # a longer one with rules in it is somebody's guide or a prompt, pasted
_VERBS = (
    r"(?:answer|reply|respond|write|use|call me|address me|include|add|show|give|tell me|ask me|check|run|start|begin|"
    r"end|explain|cite|format|translate|speak|sign|suggest|recommend|propose|assume|delete|remove|commit(?! to)|push|merge|"
    r"deploy|ship|release|rebase|force[- ]push|squash|book|schedule|send|share|publish|store|log|record|mention|"
    r"avoid|list|convert|spell|name|comment|document|review|verify|confirm|double-check|warn me|remind me|"
    r"summari[sz]e|indent|hardcode|hard-code|skip|edit|change|modify|overwrite|create|generate|import|install|"
    r"upgrade|pin|expose|mock|link|default to|stick to|refer to|apologi[sz]e|invent|make (?:sure|changes|assumptions|"
    r"breaking)|put|keep (?:the |your |all )?(?:answers?|repl(?:y|ies)|responses?|explanations?|code|functions?|commits?|"
    r"messages?|summar(?:y|ies)|lines)|"
    r"keep (?:all|every) (?:your )?\w+ |be (?:concise|brief|polite|honest|direct|formal|informal|explicit|specific))"
)
_ALWAYS = re.compile(
    rf"(?:(?:i|we) (?:want|need|expect|would like|would prefer) you to |(?:remember|make sure|be sure) to )?"
    rf"(?:(?:always|never|do not ever|never, ever|under no circumstances) (?:ever )?{_VERBS}|"
    r"only (?:suggest|recommend|propose))\b"
)
# What one is told to do in life as well: "always use sunscreen", "never answer the door".
_EVERYDAY = re.compile(
    r"(?:.*? )?(?:always|never|ever|circumstances) (?:ever )?(?:answer|reply|respond|write|use|include|add|show|"
    r"give(?! me\b)|check|run|start|begin|end|speak|sign|assume|remove|book|schedule|send|share|store|record|mention|avoid|"
    r"list|spell|name|comment|review|"
    r"verify|confirm|double-check|skip|edit|change|create|install|expose|apologi[sz]e|make|put|be|remember)\b"
)
_AT_WORK = re.compile(
    r"\b(?:me|my|mine|our|us|i|we|your|answers?|repl(?:y|ies)|responses?|examples?|explanations?|reasoning|sources?|"
    r"summar(?:y|ies)|"
    r"words?|sentences?|paragraphs?|jargon|emojis?|bullets?|bullet points|lists?|tables?|headings?|markdown|json|yaml|csv|"
    r"html|formats?|units?|metric|imperial|celsius|fahrenheit|euros?|dollars?|grams?|kilos?|miles|kilomet(?:re|er)s|"
    r"24-?hour|time ?zones?|dates?|prices?|"
    r"spelling|grammar|oxford|commas?|quotes?|passive|english|german|french|dutch|spanish|italian|portuguese|polish|"
    r"british|american|plain|formal|informal|recipes?|links?|code|codebase|functions?|class(?:es)?|methods?|variables?|"
    r"types?|type hints?|hints?|tabs?|spaces|indent\w*|docstrings?|comments?|tests?|linters?|lint|build|ci|pipelines?|"
    r"commits?|branch(?:es)?|main|master|prod|production|staging|deploys?|deployments?|releases?|migrations?|versions?|"
    r"dependenc(?:y|ies)|packages?|librar(?:y|ies)|framework|python|typescript|javascript|rust|sql|docker|git|api|apis|"
    r"endpoints?|quer(?:y|ies)|logs?|databases?|backups?|tickets?|issues?|reviews?|pull requests?|prs?|changelog|specs?|"
    r"files?|folders?|scripts?|config\w*|secrets?|drafts?|e-?mails?|messages?|subject|reports?|invoices?|meetings?|"
    r"calendar|standups?|customers?|clients?|seats?|flights?|trains?|hotels?|vegan|vegetarian)\b"
)
# Written large against the proverb: "NEVER force push", "ALWAYS pin the versions".
_SHOUTED = re.compile(
    r"(?:NEVER|ALWAYS)(?: EVER)? (?!mind|again|\w+(?:ed|ing)\b|saw|seen|been|had|have|has|was|is|knew|know|thought|would|will|"
    r"the\b|an?\b|got|gets|did|does|said|a few)[a-z]{3,}(?: [\w-]+)+"
)
# "when you write code for me, ...": in which case an order holds.
_CASE_FIRST = re.compile(
    r"when(?:ever)? you (?:write|answer|reply|respond|code|explain|suggest|recommend|summari[sz]e|draft|translate|send|give|make|"
    r"show|do|talk|speak|refer|plan|book|quote|cook|list)\b[^,.;:]{0,60}, (?:please )?"
)
_CASE_LAST = re.compile(
    r" (?:when(?:ever)?|before|after|while) you (?:write|answer|reply|respond|code|explain|suggest|recommend|summari[sz]e|draft|"
    r"translate|send|give|make|show|talk|speak|refer|plan|book|quote|list)\b[^,.;:]{0,40}\W*$"
)
_ONCE = re.compile(rf"(?:you )?(?:please )?(?:(?:always|never|do not|only) )?{_VERBS}\b")
_MAKE = r"(?:write|say|send|make|draft|give|do|create|prepare|translate|plan)"
_EVERY_TIME = (
    rf"(?:in|for|to|with|of) (?:(?:every|any)thing (?:else )?(?:that )?you {_MAKE}(?: (?:for|to) (?:me|us))?|"
    rf"(?:(?:all|any|every)(?: the)? )?[\w-]+ (?:that )?you {_MAKE} (?:for|to) (?:me|us)|"
    r"(?:all|any|every(?: one)?)(?: of)? (?:your )?(?:answers?|repl(?:y|ies)|responses?|messages?|e-?mails?))"
)
# The same in German, French and Spanish, said of an order.
_IMMER = re.compile(
    r"\b(?:in|bei|für) (?:all?em|dem),? was du (?:für mich |mir )?(?:schreibst|machst|schickst)\b|"
    r"\bdans (?:tout )?ce que tu (?:m'|me )?(?:écris|fais|envoies)\b|"
    r"\ben (?:nada|todo)(?: de)?(?: lo)? que (?:me )?(?:escrib[ae]s|haces|hagas|mandes)\b",
    re.IGNORECASE,
)
_LASTS = re.compile(rf"\b(?:from now on|going forward|henceforth|in future|{_EVERY_TIME})\W*$")
_PLEASE = re.compile(r"(?:please|pls|kindly),?\s+", re.IGNORECASE)
# Said of this task, of somebody else's rule, or for the sound of it.
_NOT_LASTING = re.compile(
    r"https?:|\b(?:would(?! (?:like|prefer) you)|could|wish|imagine|suppose|supposing|pretend|hypothetically|what if|let's say|"
    r"joking|kidding|e\.g|for example|for instance|says|said|(?:they|people|some|you) say|"
    r"told|tells|according to|saying goes|proverb|motto|lyrics|"
    r"song|joke|(?:for|in|on|of|to|with) (?:this|these|that)|this (?:time|one|task|function|file|step)|here|above|below|"
    r"story|scene|character|"
    r"following|(?:for )?now(?! on)|today(?! on)|tonight|yesterday|until (?:then|further)|for the next|for the rest|"
    r"say never|add up|end up|start over|run away|run out|give up|change (?:a winning|horses)|(?:right )?answer is|"
    r"put off (?:till|until)|put all)\b|^\W*never mind\b"
)
_POINTS = re.compile(r"\b(?:it|them|this|that|these|those|there|him|her|one|ones|both|so)\b")
_CLAUSE = re.compile(
    r"[,;:()]|\s[–—-]\s|\b(?:because|since|so|as|when|whenever|if|unless|before|after|that)\b"
)
_YOU = re.compile(r"\b(?:you|yours|yourself|u)\b|\byour (?!\w*\s?(?:answers?|repl(?:y|ies)|responses?|sources?|"
                  r"messages?|reasoning|summar(?:y|ies)|explanations?|code|tone|output|suggestions?)\b)")  # fmt: skip
_NAME = re.compile(r"(?<=[a-z] )[A-Z][\w+#.]*")
# Who says "I" in a tale, a sum, a letter, a text to work on or a part to play need not be the writer of the message.
_TALE = re.compile(
    r"^\W*(?:suppose|supposing|imagine|assume|pretend|say(?= (?:i|we|you)\b)|"
    r"let's (?:say|pretend|imagine|assume|play|role-?play))\b|"
    r"^\W*dear [a-z]|\b(?:yours (?:sincerely|faithfully|truly)|(?:kind|best|warm) regards|sincerely(?=,))\b|"
    r"\bmake (?:this|the following) (?:sound|flow|read|text|paragraph|sentence|more|less|better|shorter|longer|clearer)\b|"
    r"\b(?:rephrase|reword|paraphrase|rewrite|proofread|translate|polish) (?:this|the following)\b|"
    r"\b(?:improve|correct|edit) (?:this|the following) (?:text|paragraph|sentence|e-?mail|letter|essay|bio|draft)\b|"
    r"\brole-?play|\bd&d\b|\bdungeons (?:and|&) dragons\b|\brpg (?:campaign|character|session)\b|\bbackstory\b|\bmy character\b|"
    r"\b(?:write|written|told|tell)\b[^.!?\n]{0,40}\bin (?:the )?first person\b|"
    r"\byou(?:'re| are) (?:an?|the|my) [^.!?\n]{2,60}[.!?;,] (?:and )?(?:i'm|i am) (?:your|the)\b|"
    r"(?:^|[.!?:;\n]\s*|\b(?:can|could|will|would) you |\bplease |\bhelp me )(?:write|compose|continue|finish|tell)\b"
    r"[^.!?\n]{0,40}\b(?:poem|story|song|lyrics|scene|monologue|dialogue|screenplay|limerick|haiku|sonnet|fairy tale)\b"
)
_PLAY = re.compile(r"\b(?:let's play|play a game|role-?play|act as|pretend|you are an? )\b")
_ASKED_WORK = re.compile(
    r"\byou are (?:an?|the|my|now)\b|\bact as\b|\byou(?:'ll| will) (?:be|play)\b|\byour (?:task|role|job|goal) is\b|"
    r"\brole-?play|\bsystem prompt\b|\bpretend\b|\bi need an? |\bhow (?:do|can|would|should) (?:i|we|you) |"
    r"(?:^|[.!?:;\n]\s*|\b(?:can|could|will|would) you |\bplease |\bhelp me |\bneed (?:you )?to |\band )"
    r"(?:write|create|implement|build|generate|draft|compose|design|code|make|give me|solve|develop|prepare)(?: me| us)? "
    r"(?:an?|the|this|some|two|three|\d+|my|our)\b"
)
# "Deploys happen only on Wednesdays"; nothing that merely sighs.
_STATES = re.compile(
    r"(?!(?:it|that|this|there|he|she|they|everything|everyone|things?|life|nothing|i|you|what|who|how|no more)\b)"
    r"(?:[\w'&/.-]+ ){1,6}?(?:only |always |never |all |also )*"
    r"(?:is|are|happens?|must|may only|go(?:es)?|takes? place|needs?|requires?|gets?|runs?|starts?|ends?|uses?|lives?|"
    r"belongs?|works?|has|have|will|cannot|can only|meets?|opens?|closes?|reports?|costs?|moves?|stays?)\b .{3,}"
)


def asks_for_work(message: str) -> bool:
    """Whether the rules in a message are those of a piece of work, a part to play, or a pasted guide."""
    if len(message) > _LONGEST_MESSAGE or "```" in message:
        return True
    return bool(_ASKED_WORK.search(mask(message).casefold().replace("’", "'")))


def is_role_play(message: str) -> bool:
    """Whether a message sets up a game or a part, in which not even "from now on" lasts."""
    return bool(_PLAY.search(mask(message[:_LONGEST_MESSAGE]).casefold().replace("’", "'")))


def is_fiction(message: str) -> bool:
    """Whether somebody else may be speaking in a message: a figure of a story, a game or a sum, a text to work on."""
    return bool(_TALE.search(mask(message[:_LONGEST_MESSAGE]).casefold().replace("’", "'")))


def politeness_length(text: str) -> int:
    """How many characters of politeness begin a text."""
    match = _PLEASE.match(text)
    return match.end() if match else 0


def is_order(text: str, plain: str, *, lasts: bool, of_work: bool) -> bool:
    """Whether ``text`` (``plain``: in small letters, long forms) is an order for good. ``lasts``: "from now on" stood
    before it; ``of_work``: the message asks for some work, of which the order may be.
    """
    plain = _CASE_LAST.sub("", _CASE_FIRST.sub("", plain))
    shouted = _SHOUTED.match(text) is not None
    if not (_ONCE.match(plain) if lasts else (shouted or _ALWAYS.match(plain)) and not of_work):
        return False
    everyday = None if lasts or shouted else _EVERYDAY.match(plain)
    if everyday and not (_AT_WORK.search(plain, everyday.end()) or _NAME.search(text)):
        return False
    if _NOT_LASTING.search(plain) or _YOU.search(_addressed(plain)):
        return False
    if re.match(r"(?:Always|Never) [A-Z]", text):
        return False  # a title
    return _POINTS.search(_CLAUSE.split(plain)[0]) is None


def ends_as_lasting(plain: str) -> bool:
    """Whether it ends in "from now on", or in "in anything you write for me"."""
    return _LASTS.search(plain) is not None


def says_it_lasts(plain: str) -> bool:
    """Whether it begins or ends by saying that it lasts."""
    return MARKER.match(plain) is not None or ends_as_lasting(plain)


def lasts_in_other_languages(text: str) -> bool:
    """Whether it says in German, French or Spanish that it is for everything that is written."""
    return _IMMER.search(text) is not None


def is_rule(marker: str, plain: str) -> bool:
    """Whether what follows "from now on" states how something is done; "in the future" most things are said to be."""
    return (
        "future" not in marker.casefold()
        and _STATES.match(plain) is not None
        and _NOT_LASTING.search(plain) is None
    )


def _addressed(plain: str) -> str:
    """Without the "you" that every order means."""
    plain = re.sub(rf"\b{_EVERY_TIME}", "", plain)
    return re.sub(r"^(?:(?:i|we) (?:want|need|expect|would like|would prefer) you to|you) ", "", plain)
