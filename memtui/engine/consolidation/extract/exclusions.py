"""Words that keep a clause from becoming a fact, however lasting it reads: what is supposed, asked for, felt, quoted.

The classifier judges by likeness; these rules say no. They are matched against a clause in small letters in which what is
quoted is blanked.
"""

from __future__ import annotations

import re

_SUPPOSED = re.compile(
    r"(?<!\w)(?:what if|imagine|imagin[ae]|suppose|supposing|supongamos|pretend|finge|hypothetically|let's say|"
    r"let's pretend|"
    r"thought experiment|rhetorical|wish i|if (?:i|we|you|he|she|they|it) (?:were|was|had|could|ever|won|"
    r"moved|lived|quit|\w+ed)|i would(?! rather| like you| prefer)|i'd (?:love|buy|kill|move|die|never)|we'd (?:buy|move)|"
    r"would be (?:nice|cool|great)|could have|could've|dreamt|dreamed|in my dream|"
    r"joking|kidding|gesetzt den fall|stell dir vor|stellen sie sich vor|angenommen|wenn .{1,60} (?:wäre?|hätte?|würde?)|"
    r"hätte? ich|würde? ich|überlege?,? ob|(?:i'm|im|i am) thinking maybe|"
    r"i (?:kinda|sorta|kind of|sort of) (?:wanna|want to|wish)|"
    r"si (?:j'étais|yo fuera|fuera|j'avais)|digamos|disons|imaginez|just curious|just for fun)(?!\w)"
)
_SAY = re.compile(
    r"(?:^|(?:and|or|ok|now|so),? )(?:say|dis|di|sagen wir|sagen sie),? "
    r"(?:i|we|an?|the|my|mr|mrs|un|una|une|ein|eine|if|[a-z]+ (?:has|is|buys|had|wants))\b|"
    r"\b(?:customer|client|patient|nurse|farmer|man|woman|person|kunde|cliente|company|guy|girl) "
    r"(?:called|named|namens|llamad[oa]|nommée?)\b|\b(?:names? like|for example|e\.g|for instance|zum beispiel|par exemple|"
    r"por ejemplo|dummy|lorem|placeholder|sample|fake|made[- ]up|test data|"
    r"for the tests?|something like:?$)\b"
)
_BEGIN = r"^(?:(?:ok|okay|and|so|but|also|now|then|right|oh|please|pls|kindly|just|abeg|y|oye|bitte)[,.]? )*"
_ASKED = re.compile(
    r"^(?:(?:ok|okay|and|so|but|also|now|then|right|oh|please|pls|hey|anyway|well|good|thanks|fine|cool|great|perfect|"
    r"y|oye|und|et|dann|gut)[,.]? )*"
    r"(?:can|could|would|will) (?:you|u|i|we)\b|^(?:(?:and|so|but|ok|right|anyway|now|also|then),? )*"
    r"(?:what|how|why|which|who|whose|when|where)(?:'s|s)? (?!i (?:need|want|like)|it comes|you |we |i )(?!(?<=which )means? )\w|"
    r"^(?:(?:and|so|but|ok|right|anyway|now|also|then),? )*(?:what|how|why|which) (?:can|do|does|should|would|to|did) |"
    r"^(?:should|shall|do|does|did|is|are|am) (?:i|we|it|he|she|they|you|there|that|this)\b|"
    r"^(?!(?:ich|du|er|sie|es|wir|ihr|man|das|nicht|noch|erst|schon|sonst|(?:letzte|nächste|jede|diese|erste|zweite|manche|ein)"
    r"\w*|viele|zwei|drei|\d+) )[^\W\d_]{2,} mal (?=\w)|"
    rf"{_BEGIN}"
    r"(?:write|draft|redo|rewrite|make (?:me|it|this|that|a|an|the)|give me|tell me|show me|help me|explain|translate|"
    r"summari[sz]e|generate|compose|suggest|find me|look up|remind me|gimme|help me|list|convert|calculate|count|proofread|"
    r"reword|polish|shorten|turn (?:it|this|that)|put (?:it|that|this|the)|add (?:it|that|this|the|a)|draw|design|describe)"
    r"(?!\w)|"
    rf"{_BEGIN}(?:"
    r"schreib(?:en sie|e)?|formulier(?:en sie|e)?|erklär(?:en sie|e)?|"
    r"[^\W\d_]+(?:e|r|l)n sie (?:mir|uns|ihm|ihr|herrn?|frau) |übersetz\w*|mach(?:en sie)? mir|gib mir|"
    r"plan(?:en sie|e) mir|"
    r"écris|traduis|donne[- ]moi|fais|refais|explique|reformule|rédige|"
    r"escríbeme|escribe|dame (?!siempre)|hazme|haz|tradúceme|redáctame|rediseña|explícame|cuéntame|pásame|qué |cómo |"
    r"cuánto |cuál |"
    r"was |wie |wer |wann |wo |warum |welche[rs]? |qu'est-ce|comment |combien |pourquoi |quel(?:le)?s? )"
)
# A question or a request without its mark or its accent, by its verb before its subject.
_ASKED_ALSO = re.compile(
    r"^(?:(?:und|ok|also|jetzt|dann|so|ach|hey|bitte),? )*(?:kannst|könntest|magst|würdest|weißt|hast) du\b(?! nicht| nie)|"
    r"^(?:und |ok,? )?(?:kann|darf|soll|sollte|könnte) (?:ich|man|er|wir)\b(?! nicht| nie| kein)|"
    r"^(?:können|könnten|würden) sie\b|"
    r"^(?:(?:und|ok|also|jetzt|dann|so|bitte),? )*(?:sag|rechne?|nenn|zeig|such|gib|erzähl|hilf|schlag)e? "
    r"(?:mir|uns|mal|noch|bitte)\b|"
    r"^(?:y |oye,? )?(?:como|cuanto|cual|donde) (?:es|son|hay|puedo|hago|sería|seria|debo|se (?:dice|hace|escribe))\b|"
    r"^(?:(?:hé|eh|dis|et|alors),? )*(?:tu peux|tu pourrais|vous pouvez|c'est quoi|ça veut dire quoi)\b|"
    r"^(?:\d+|two|three|a few|some) (?:lines?|words?|ideas?|options?|sentences?|names?) for\b|"
    r"\b(?:how (?:long|far|much|many|often|old|big)|wie (?:lange?|weit|viele?|oft)|combien(?: de temps)?|"
    r"cuánto(?: tiempo)?|cuantos?)$"
)
# What is wanted of one answer: "English reply please", "use the web tool", "two lines telling them".
_WISHED_ONCE = re.compile(
    r"^(?:(?:and|so|but|ok|just|please|pls),? )*(?:(?:use|search|check|try|ask|open|google) (?:(?:the|your) )?"
    r"(?:web|internet|net|search|browser|tools?|calculator|calendar)\b(?!.*\b(?:always|every|whenever|never|first)\b)|"
    r"(?:in )?(?:english|german|french|spanish|dutch|italian|polish|portuguese|turkish) (?:reply|answer|version|text|translation|"
    r"e?-?mail|one|this time)\b|"
    r"(?:one|two|three|four|five|\d+) (?:short |more )?(?:lines?|sentences?|words?|paragraphs?)(?: (?:please|pls|only|telling|"
    r"saying|about|to|that)\b(?!.*\bmax\b).*)?$)"
)
_FELT = re.compile(
    r"(?<!\w)(?:i'm|im|i am|feel(?:ing)?|been|so|dead|bit|too|me siento|ando|estoy|bin|je suis|ich bin)(?: \w+){0,3}? "
    r"(?:tired|knackered|exhausted|sleepy|hungry|starving|bored|annoyed|irritated|furious|sad|blue|low|stressed|"
    r"nervous|grumpy|"
    r"hungover|fed up|done|crying|proud|wrecked|shattered|drained|cold|freezing|late|lost|stuck|"
    r"muerta? de sueño|de malas|mensa|cansad[oa]|triste|müde|verdrießlich|erschöpft|genervt|traurig|sentimental|"
    r"fatiguée?|crevée?|énervée?|triste)(?!\w)|"
    r"\b(?:i'm|im|i am) (?:so |actually |literally )?dead\b|"
    r"\btengo (?:hambre|sueño|frío|calor|sed)\b|\bmuriendo de (?:sueño|hambre|risa|calor|frío)\b|"
    r"^(?:so )?(?:tired|exhausted|knackered|headache|bored|hungry)\b|\bignore me\b|\bbad mood\b|\bworst (?:day|mum|"
    r"mom|dad|mother|week)\b|"
    r"\b(?:could cry|cried|in tears|feel like an? \w+|gone blank|brain is|ugh)\b"
)
_MOMENT = re.compile(
    r"\b(?:tonight|right now|just now|at the moment|a (?:minute|moment) ago|in (?:a|ten|five|\d+) (?:minutes?|min|sec|"
    r"moments?)|"
    r"brb|(?<!since )yesterday|last night|(?:almost|nearly) \w+ed|today|(?:for|in) this (?:task|one|case|function|file|step|"
    r"exercise|part|process|tree|loop|class|module|script|query|table|sheet|document|thread)|"
    r"this (?:morning|afternoon|evening)|i put the|gerade eben|"
    r"(?<!ab )(?<!seit )(?<!von )heute?|ce soir|ce matin|esta noche|hoy)\b"
    r"|^(?:today|heute|yesterday|hoy|aujourd'hui)\b"
)
_REPORTED = re.compile(
    r"\b(?:asks?|asked|wonders?|wants to know|fragt|fragte|pregunta|demande),? (?:ob|if|whether|why|what|how|when|where|si)\b|"
    r"\b(?:wrote|writes|schrieb|escribió|mandó|a écrit|mailed|texted me|says? (?:that|the|in|on)|said[:,]|"
    r"the (?:mail|letter|article|book|recipe|label|sign|email|text|docs|website|form) (?:says|said|reads)|"
    r"according to|i read (?:that|somewhere)|apparently|always (?:says|said)|used to say|my horoscope|claims|"
    r"behauptet|decía|dice que|disait|sagte immer|"
    r"dear (?:mr|mrs|ms|sir|madam|dr|parents|all|team|colleagues)|kind regards|best regards|warm regards|yours sincerely|"
    r"cordialement|saludos cordiales|mit freundlichen|liebe[r]? (?:herr|frau)|sehr geehrte)\b"
)
_NEEDED = re.compile(
    r"\b(?:and|so|but) (?:i |we )?need an? \w+$|"
    r"^(?:(?:i|we) )?(?:(?:just|also|only) )?(?:need|want|am looking for|'m looking for)(?: you to)? (?:an?|some|the|one|two|"
    r"three|\d+|"
    r"ideas?|help) ?(?:\w+ )?(?:idea|word|name|option|slogan|recipe|plan|text|line|draft|list|letter|mail|email|title|query|"
    r"script|function|summary|card|speech|caption|regex|phrase|checklist|poster|flyer|advert|timeline|schedule|itinerary|menu|"
    r"invitation|invite|outline|translation|toast|blurb|post)s?\b|"
    r"^(?:i|we) (?:want|need|would like|'d like|am trying|are trying) to (?:write|sort|make|create|know|ask|say|see|"
    r"check|send|find|"
    r"understand|merge|center|parse|reply|convert|count|print|show)\b|^i have (?:a|this|one) (?:question|problem|"
    r"issue|doubt)\b|"
    r"^(?:ich )?brauche? (?:noch |mal )?'?nen?\b|"
    r"^(?:ich brauche|necesito|j'ai besoin d[e']|il me faut) (?:eine?n?|un[ae]?|\d+|des?|die|den|das)\b"
)
_TASK = re.compile(
    r"^(?:i(?:'m|'ve)?|we(?:'re|'ve)?|my|our)(?! always| never| only)(?: [\w'-]+){0,4}? (?:functions?|loops?|"
    r"induction|recursion|proofs?|"
    r"scripts?|terminal|"
    r"shell|console|code|arrays?|strings?|tabs|cookies|files?|columns?|rows?|regex|exercise|chapter|paragraph|page|"
    r"api version)\b|"
    r"\boption [a-z\d]\b|\bthe (?:first|second|third|last|other|previous) (?:one|option|approach|version|idea|method|"
    r"suggestion)\b|"
    r"^i(?:'m| am) (?:an? )?(?:\w+ )?(?:beginner|newbie|novice)$|\b(?:killing|driving) me\b|^we live and\b|"
    r"^(?:please )?(?:run|try|start|open|fix|check|commit|send|call me|ring me) (?:it|this|that|the|again|when|if|"
    r"back|later)\b|"
    r"^i (?:started|ended|finished) at\b|^i never (?:said|meant|saw|got|heard|understood|knew)\b|"
    r"^if (?:i|we|it|he|she|they)\b|"
    r"\bget(?:ting|s)? an? (?:[45]\d\d|timeout|(?:\w+ )?error)\b"
)
_TOLD = re.compile(
    r"^you(?:'re| are)? (?!can\b|may\b|should\b|must\b|have to\b|need to\b|don't\b)|\b(?:you(?:'ve| have)? (?:put|"
    r"said|told|wrote|gave|forgot|used|missed|recommended|suggested|asked|mentioned)|"
    r"as you (?:said|suggested)|your (?:idea|version|suggestion|answer|last|first|second|recipe|list|plan|draft))\b"
)
_MADE_UP = re.compile(
    r"\b(?:once upon|in the (?:story|film|movie|book|game|song|novel|tale|series)|in minecraft|my sim\b|my character|"
    r"the (?:hero|villain|dragon|main character)|bedtime story|poem|haiku|limerick|sonnet|joke|fairy ?tale|märchen|gedicht|"
    r"cuentito|cuento|conte|poème|as if you were|in the role of|in der rolle|as a pirate|costume|crossword|"
    r"kreuzworträtsel|crucigrama|"
    r"quiz|riddle|maths homework|numeracy|homework)\b|^(?:he|she) (?:lives|is) in a (?:castle|lighthouse|cave)"
)
_INVENTED = (_SUPPOSED, _SAY, _REPORTED, _MADE_UP)
# What is said to somebody, of the talk itself, or of nothing at all.
_CHAT = re.compile(
    r"^(?:so )?much for\b|\bquick one\b|^(?:on|over) my (?:lunch|break|commute)\b|^(?:the )?last (?:one|thing)\b|^boo+\b|"
    r"^(?:good|guten|gute|schönen|buen[oa]s?|bonne?) (?:morning|evening|afternoon|night|day|morgen|tag|abend|nacht|día|días|"
    r"tardes|noches|journée|soirée|nuit)\b(?! (?:routine|shift|class))(?=\W|$)"
    r"(?!.*\b(?:i'm|i am|my name|ich bin|ich heiße|je suis|je m'appelle|soy|me llamo)\b)|"
    r"^(?:hi|hello|hey|hallo|hola|bonjour|salut|holi|moin|"
    r"servus)\b(?=\W|$)(?!.*\b(?:i'm|i am|my|ich|mein|je|mon|soy|mi)\b)|^[\w ]{0,30}\bupdate\W*$|"
    r"^ja,? ich weiß|^i know\b(?! \w+ \w+)|"
    r"^(?:fine|right|ok|okay|well|yes|no|ja|gut|bien|bueno|vale|sí),? (?:tea|coffee|lunch|dinner|then|weiter|passons|done)\b|"
    r"^(?:we're|we are|i'm|i am) in(?:,|$)|"
    r"^while (?:we're|we are|i'm|i am) (?:at|on) [\w' ]{2,30}$|\b(?:don't|do not) ask (?:me )?why\b|^(?:jaja|haha|lol)\b"
)
_SHAPES = (
    _CHAT,
    _SUPPOSED,
    _SAY,
    _ASKED,
    _ASKED_ALSO,
    _WISHED_ONCE,
    _FELT,
    _MOMENT,
    _REPORTED,
    _NEEDED,
    _TASK,
    _TOLD,
    _MADE_UP,
)
_CODE = re.compile(
    r"[{}<>]|\w\(|=>|==|;\s*$|\bselect\b.+\bfrom\b|\b(?:func|def|return|import) \w|https?://", re.IGNORECASE
)


_KNOWN = frozenset(
    """
    the a an is are was my our i we he she it you to of and in on at for with no not never always only don't can't has have
    i'm i've we're he's she's by from till until now after before per new also
    der die das ein eine einen ist sind hat haben ich wir er sie es mein meine meinen unser unsere und nicht kein keine
    am im vom zum zur
    bitte mit für von auf jetzt nun den dem des uns seit
    le la les un une est sont je j'ai on il elle mon ma mes notre et pas ne à au du des de en c'est nous pour avec s'il
    el los las una es son soy tengo mi mis yo y no se nos para con por sin del al lo ya me su que le
    """.split()  # noqa: SIM905
)
_FOREIGN = frozenset(
    """
    ik mijn het een zijn jij mij voor met wij hij zij ben heb niet naam jaar ek vrou 'n och jag är vi min heter inte har og jeg er
    det hund familj i min två mam w się jest nie mieszkam dwie moja mój z na io sono mio mia il gli di che non ho abito eu
    meu minha não moro tenho sou uma um em com minun olen ja on minä
    """.split()  # noqa: SIM905
)
_word = re.compile(r"'?[^\W\d_]+(?:['’][^\W\d_]+)?")


def in_known_language(text: str) -> bool:
    """Whether a text looks to be in a language that the classifier was trained on: English, German, French or Spanish."""
    words = _word.findall(text.casefold().replace("’", "'"))
    foreign = sum(word in _FOREIGN and word not in _KNOWN for word in words)
    known = sum(word in _KNOWN for word in words)
    latin = sum(word[-1] < "ɐ" for word in words)
    return latin * 2 > len(words) and (known > foreign if foreign else known > 0 or len(words) < 8)


def excluded(masked: str) -> bool:
    """Whether a clause must not become a fact. ``masked``: with a NUL in the place of each quoted character."""
    plain = _plain(masked)
    return _unreadable(masked, plain) or any(shape.search(plain) for shape in _SHAPES)


def is_small_talk(masked: str) -> bool:
    """Whether a clause greets, exclaims, tells a mood, or says nothing at all."""
    plain = _plain(masked)
    return _unreadable(masked, plain) or _CHAT.search(plain) is not None or _FELT.search(plain) is not None


def made_up(masked: str) -> bool:
    """Whether a clause supposes, quotes or tells a tale: what it says holds of nobody."""
    plain = _plain(masked)
    return _unreadable(masked, plain) or any(shape.search(plain) for shape in _INVENTED)


def asks(masked: str) -> bool:
    """Whether a clause asks for something, be it an answer or a piece of work."""
    plain = _plain(masked)
    return any(shape.search(plain) for shape in (_ASKED, _ASKED_ALSO)) or _NEEDED.search(plain) is not None


def _plain(masked: str) -> str:
    return " ".join(masked.casefold().replace("’", "'").split()).strip(" ,.-–—")


def _unreadable(masked: str, plain: str) -> bool:
    """Whether what it says is elsewhere, or is quoted, or code."""
    return plain.endswith(":") or masked.count("\x00") * 3 > len(masked) or _CODE.search(masked) is not None
