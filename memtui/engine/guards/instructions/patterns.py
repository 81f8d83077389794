"""Patterns of prompt injection, matched against folded (lower-case) text.

Each entry is a reason and alternatives, of which one must be found. GAP stands for a stretch inside one
sentence; it is bounded, so that the time is linear in the text. Shapes are wide where people never
write to each other like that ("the user", "your memory"), narrow where they do ("from now on").
"""

from __future__ import annotations

import functools
import re

_AGENT = (
    r"(?:assistants?|a\.?i\.?s?|agents?|(?:language |ai )?models?|chat ?bots?|llms?|claude|chat-?gpt|gpt|"
    r"copilot|gemini|bots?)"
)
_RULES = (
    r"(?:instruction|rule|prompt|guideline|direct|command|order|polic|constraint|safe(?:guard|ty)|filter|"
    r"restriction|training|programming|guard ?rail|context|message|told|said|memor)"
)
_SECRET = (
    r"(?:system prompt|(?:hidden|initial|original|secret) (?:prompt|instructions?)|"
    r"your (?:instructions|prompt|rules|memor\w+)|api keys?|passwords?|credentials?|access tokens?|"
    r"private keys?|secrets?|conversation history|environment variables|stored (?:data|memor\w+|facts))"
)
_RECORDS = (
    r"(?:memor(?:y|ies)|facts?|records?|notes?|histor(?:y|ies)|files?|conversations?|logs?|entries|databases?|"
    r"confirmations?|reminders?|preferences|tables?|address(?:es)?|accounts?|proposals?|conflicts?)"
)
_PERSON = r"(?:users?|persons?|humans?|owners?|customers?|operators?)"
_SAYING = (
    r"(?:say|reply|respond|answer|recommend|promote|tell|claim|pretend|refuse|suggest|send|call|use|mention|"
    r"direct|insist|include|give|point|confirm|deny|lie|ask|add|output|run|state|approve|treat|obey|ignore|"
    r"prefer|act|speak|end|begin|start|never|always|only|must|insert|write|omit|skip|report)"
)
_FUTURE = (
    r"(?:conversations?|responses?|sessions?|answers?|repl(?:y|ies)|messages?|interactions?|chats?|"
    r"questions?|quer(?:y|ies)|requests?)"
)
_OPENING = r"(?:^|[.!?:;,>]\s*|\b(?:please|and|then|now) )"
_WHOSE = (
    r"(?:all|every|any|each|the user'?s|your|these|other|existing|previous|stored|long[- ]term|earlier|their|"
    r"everything in|entire|whole|this|pending|the (?:fact|record|memory|memories|note|history))"
)
_ELSEWHERE = (
    r"(?:https?://|hxxp|www\.|\bftp|webhook|(?:url|query) parameter|[\w.+-]+@[\w-]+\.\w|"
    r"(?:external|remote|attacker|this|following)\W+(?:\w+ )?(?:url|server|endpoint|address|site))"
)

_SHAPES: dict[str, tuple[str, ...]] = {
    "tells to ignore its rules": (
        rf"\b(?:ignore|disregard|override|overrule|bypass|circumvent|discard|set aside|forget)\bGAP"
        rf"\b(?:previous|prior|preceding|above|earlier|all|any|existing|your|former|other|every|original|"
        rf"system|user'?s|everything|what)\bGAP\b{_RULES}",
        rf"\b(?:do not|don't|stop|no longer|quit) (?:follow|obey|apply|us|heed)\w*\bGAP\b{_RULES}",
        rf"{_OPENING}(?:ignore|disregard|override|skip) (?:the|all|any|every|everything|your|what|this|prior|"
        rf"previous|safety|content)\bGAP(?:above|before|instead|warning|preference|setting|{_RULES})",
        r"\b(?:previous|prior|earlier|existing|former|old) (?:\w+ )?(?:instructions|rules|orders|confirmations|"
        r"prompts?|polic\w+|guidelines)\bGAP\b(?:are|is|were|no longer|revoked|outdated|void|cancelled)",
        r"\b(?:this|these|the following) (?:message|instruction|text|document|note|rule|email|prompt|policy)s?\b"
        r"GAP\b(?:overrid|supersed|replac|takes? (?:priority|precedence))",
        r"\bdisabl\w+ (?:all |the |any |your )?(?:content |safety )?(?:filter|safeguard|guard ?rail|moderation)",
        r"\b(?:prioriti[sz]e|consider|regard)\bGAP\b(?:instructions?|confirmations?|rules)\b",
        r"\bforget (?:everything|all|anything) (?:you|that|above|before|about|we|i|from)\b",
    ),
    "tells to ignore its rules (in another language)": (
        r"\b(?:ignor\w*|vergiss|vergeet|negeer|missachte|oublie[zr]?|olvida\w*|esquece|desconsidere|dimentica|"
        r"zignoruj|bortse)\bGAP\b(?:anweisung|instruktion|instruc|istruzion|instrukc|instructie|regel|regl|règle|"
        r"regla|regole|consigne|vorgaben|aufforderung|opdracht)",
        r"(?:игнорируй|забудь|не следуй)\w*GAP(?:инструкц|правил|указан|команд)",
        r"(?:忽略|无视|忘记|忘掉|無視)[^。\n]{0,20}(?:指令|指示|规则|提示|命令|要求)",
        r"(?:指示|命令|ルール|プロンプト)(?:を|は)?(?:すべて|全て)?(?:無視|忘れ)",
        r"이전[^.\n]{0,12}(?:지시|명령|지침)[^.\n]{0,12}무시",
        r"تجاهل[^.\n]{0,30}(?:التعليمات|الأوامر)",
    ),
    "gives new rules": (
        r"\b(?:new|updated|revised|real|actual|true|hidden|secret|additional|important) (?:system )?"
        r"(?:instructions?|directives?|orders?|system prompt)\b\s*(?:[:\-–—]|are|is|follow|apply|for)",
        r"\byour new (?:role|task|goal|name|purpose|identity|job)",
    ),
    "changes the assistant's role": (
        r"\b(?:you are|you're) (?:now|no longer|from now)",
        r"\b(?:act|behave|respond|answer|reply) as (?:if you|though you|an? (?:unrestricted|unfiltered|evil|"
        r"different|root|admin\w*|system|developer|jailbroken))",
        r"\bpretend (?:that )?(?:to be|you(?:'re| are| have))|\broleplay as|\bjailbreak|\bdo anything now",
        r"\b(?:developer|debug|god|admin|dan|maintenance|root|unrestricted) mode\b",
        r"\bwithout (?:any )?(?:restrictions|limitations|filters|safeguards)",
        r"\byou (?:have been|are|were) (?:granted|given|assigned|promoted|configured|programmed|reprogrammed)\bGAP"
        r"\b(?:admin|root|access|right|permission|privilege|role|mode|task|to)",
        r"\byou are (?:dan|root|admin|an? (?:ai|assistant|hacker|admin\w*))\b",
    ),
    "looks like a prompt": (
        r"<\|?/?(?:im_start|im_end|system|sys|endoftext|assistant|user|instructions?|tool_calls?|"
        r"function_calls?|important|admin|prompt|override|hidden)\|?>",
        r"\[/?(?:inst|system|sys|admin|instructions?)\]|<</?sys>>|##\s{0,20}(?:system|instructions?|new task)",
        r"^\W{0,6}(?:system|assistant|developer|admin(?:istrator)?)\W{0,3}"
        r"(?:prompt|message|override|note|notice|instruction|update|alert)?\s?:",
        r"\b(?:begin|end|start)(?: of)? (?:system|new|hidden|admin) (?:prompt|instructions?|message)",
        r"\b(?:system|admin|root|security) (?:override|prompt|directive|instruction|command|alert)\b",
    ),
    "wants something kept from the person": (
        rf"\b(?:do not|don't|never|without|must not|mustn't|should not|shouldn't|avoid|refrain from|no need to) "
        rf"(?:ever )?(?:tell|inform|mention|reveal|alert|notify|warn|show|disclos|let|ask|say|admit|acknowledg|"
        rf"consult)\w*\bGAP\b(?:{_PERSON}|anyone|instructions?|this (?:instruction|note|message|rule|text))\b",
        rf"\b(?:hide|conceal|keep|withhold)\bGAP\bfrom (?:the |your )?{_PERSON}\b",
        r"\b(?:silently|secretly|covertly|quietly|discreetly) (?:\w+ ){0,2}(?:send|delete|add|include|append|"
        r"forward|remove|change|replace|upload|store|record|approve|copy|overwrite|drop|disable|grant|execute|"
        r"run|install)",
    ),
    "addresses the assistant": (
        rf"\b{_AGENT}\b(?: (?:reading|processing|who|that|which|in)\b[^.,:!?\n]{{0,40}})?[,:]?\s*(?:you )?"
        rf"(?:must|shall|has to|have to|should (?:always|never|now|only|not|immediately)|"
        rf"(?:is|are) (?:hereby )?(?:required|instructed|obliged|ordered|authori[sz]ed|allowed|permitted|"
        rf"expected|commanded|to \w+)|(?:please )?(?:always|never|ignore|disregard|delete|send|reveal|execute|"
        rf"forget|recommend|treat))\b",
        rf"\b(?:attention|note|message|memo|instructions?|notice|warning)\b:?,? (?:to |for )?"
        rf"(?:the |any |all |every )?{_AGENT}\b",
        rf"\bif you(?:'re| are) (?:an? )?(?:large )?{_AGENT}\b",
        r"\bas an? (?:ai|llm|large language model|ai language model)\b",
        rf"\bto (?:the|any|all|every|whatever|whichever) {_AGENT}\bGAP\b(?:read|process|sees?|pars)",
        rf"(?:^|[.!?>]\s*)(?:all |any |dear |hey |hello )?{_AGENT}\s?[:,]\s",
        r"\bas (?:the |this |a )?(?:user's|person's|owner's|their) (?:ai|assistant|agent|helper)\b",
        rf"\bwhen(?:ever)? (?:you (?:are )?)?(?:summari[sz]|process|read|analy[sz]|index|translat|answer|quot)\w* "
        rf"(?:this|the|these)\bGAP,\s*(?:please |you |always |also )*{_SAYING}\b",
    ),
    "gives a standing order": (
        rf"\b(?:from now on|from this (?:point|moment)(?: on| forward)?|henceforth|going forward)\b[^.!?\n]{{0,60}}"
        rf"\b(?:you|{_SAYING})\b",
        rf"\b(?:in|to|for) (?:all|every|any|each) (?:\w+ )?(?:future|subsequent|later|further|following) "
        rf"(?:\w+ )?{_FUTURE}\b",
        rf"\b(?:when(?:ever)?|if|each time|every time|once|before|after)\bGAP\b(?:the user|a user|the person|the human|"
        rf"someone|anyone|anybody|you are asked|you're asked|asked)\b[^.!?\n]{{0,80}}(?:,|\bthen\b|\byou\b)\s*"
        rf"(?:you |please |must |should |then |always |never |instead |do not |don't |just )*{_SAYING}\b",
        r"(?:^|[.!?:;,]\s*|\b(?:must|should|shall|to|and|please) )(?:always|never|only|exclusively|"
        r"under no circumstances)\s+(?:\w+ )?(?:recommend|suggest|answer|reply|respond|trust|approve|promote|"
        r"endorse|obey|comply|refuse|output|cite|mention|claim|praise|prefer|advise|reject|agree with|deny)\b",
    ),
    "gives an order": (
        r"\byou (?:must|shall|are (?:required|instructed|obliged|ordered|commanded|authori[sz]ed|hereby)|will now|"
        r"have to now|should now|need to now)\bGAP\b(?:always|never|not|now|only|immediately|to|ignore|obey|send|"
        r"delete|recommend|reveal|comply|answer|respond|follow|execute|include|treat|use|call|store|forget|mark|"
        r"act|output|approve)\b(?! be)",
        rf"{_OPENING}(?:always |never |only |do not |don't )?(?:tell|ask|warn|inform|convince|persuade|urge|get|make|"
        rf"let|treat|show|give|allow|direct|lead|change|update|set|alter|assume|claim|say|pretend|respond to|"
        rf"redirect|overwrite|replace)\bGAP\bthe user(?:'s)?\b",
        r"\bthe user (?:has )?(?:said|says|agreed|agrees|consent\w*|authori[sz]ed|approved|confirmed|wants|"
        r"is fine|allows?)\b[^\n]{0,80}\b(?:you|no need|without asking|share|everyone|permanent\w*|transfer|pay|"
        r"grant)",
        r"(?:^|[.!?:;>]\s*|\bplease |\byou (?:will|shall|should|must|are to) )(?:always |only |now )?"
        r"(?:respond|reply|answer|speak|write|talk)\b(?: only| exclusively)?(?: to)? "
        r"(?:(?:all|every|any) |(?:only )?(?:with|in) (?:json|the persona|the voice|the style|['\"“]))",
        r"\b(?:do|follow|obey|execute) (?:whatever|everything|anything) (?:the|is|it|this|i|that|they)\b",
        r"\btreat (?:this|the (?:text|following|above|below)|it|these)\bGAP\bas (?:if|though|trusted|true|authori|"
        r"instruct|verified|confirmed|the (?:owner|user))",
        r"\bwithout (?:question|hesitation|asking|verification|confirmation)[.!]?$",
        r"\b(?:output|print|repeat|copy|echo|return) (?:all |everything )?(?:the |of the )?(?:text|words|content|"
        r"lines?|messages?|everything) (?:above|before)",
    ),
    "wants data sent away": (
        rf"\b(?:send|post|upload|forward|exfiltrat\w+|e?-?mail|leak|transmit|submit|share|append|report|copy|deliver|"
        rf"export|encode|paste|pass|put)\b[^!?\n]{{0,90}}\b(?:to|at|via|into|in|as|onto|using)\b[^!?\n]{{0,30}}"
        rf"{_ELSEWHERE}",
    ),
    "wants secrets shown": (
        rf"\b(?:reveal|print|show|repeat|output|leak|disclose|expose|display|dump|list|give|tell|send|share|paste|"
        rf"read out|recite|provide|summari[sz]e|include)\bGAP\b{_SECRET}",
    ),
    "tells to change the memory": (
        rf"\b(?:delete|erase|wipe|remove|purge|overwrite|replace|mark|confirm|supersede|forget|clear|drop|destroy|"
        rf"reset|protect|lower|set|modify|alter|falsify|edit|change|update|approve|accept)\b[^.!?\n]{{0,15}}"
        rf"\b{_WHOSE}\bGAP\b{_RECORDS}\b",
        rf"\b(?:delete|erase|wipe|purge|overwrite|confirm|supersede) {_WHOSE}\b",
        r"\b(?:remember|store|save|record|note|memori[sz]e|write|add)\b[^.!?\n]{0,25}\b(?:that|as|this|to memory|"
        r"in memory|permanently) [^.!?\n]{0,40}\b(?:the user|user|the person|the human|the owner|trusted source|"
        r"permanent(?:ly)?|a (?:trusted|verified|confirmed))\b",
        r"\b(?:save (?:this|the following|it) (?:\w+ )?(?:to|in|into)|(?:update|rewrite|edit|reset|clear|amend|dump)|"
        r"contents of|in|into) (?:your|the) (?:long[- ]term |persistent |internal |stored )*(?:memory\b"
        r"(?: (?:database|store|file|bank))?|notes|fact (?:store|base))\s?(?:[:;,.]|$|with\b|that\b|database)",
        r"\b(?:fact|ep|obs|ref)_[0-9a-f]+\b",
        r"\b(?:set|raise|lower|change|put)\bGAP\b(?:confidence|decay[_ ]rate)\b",
        r"\badd to memory\b|\bdrop table\b|\bdelete from \w+",
    ),
    "tells to run something": (
        r"\b(?:call|invoke|run|execute|trigger|launch)\b (?:the |this |following |these |your |a |any )*"
        r"[\w.`'\"-]{0,40}\s?(?:tool|function|command|script|shell|code|payload|macro)s?\b",
        r"\bcurl\b[^\n]{0,120}\|\s*(?:ba|z)?sh\b|\bwget\b[^\n]{0,120}(?:\||&&|;)|\brm -rf\b|\bpowershell -|\beval\(|"
        r"\bbase64 -d\b",
        r"\b(?:execute|run|decode|follow) (?:the|this|these|what|its)\bGAP\b(?:instructions?|commands?|base64|code|"
        r"steps|orders?)\b",
        r"\bfollow (?:the |these |all |any )?(?:new |hidden |embedded |following |above |below )+(?:instructions?|"
        r"steps|orders?|directions?)",
        r"\b(?:click|visit|open|go to|navigate to|browse to|fetch|download)\bGAP\bhttps?://[^\s]+[^!?\n]{0,60}"
        r"\b(?:and|then)\bGAP\b(?:follow|execute|run|install|enter|log ?in|obey)",
    ),
    "tells to pay or approve": (
        r"\b(?:transfer|wire|pay|approve|authori[sz]e|send|buy|purchase|grant)\bGAP\b(?:without (?:asking|confirm|"
        r"verif|approval|checking|permission)|to (?:iban|account|wallet|bitcoin|btc)|automatically)",
    ),
}  # fmt: skip

REASONS = tuple(_SHAPES)


@functools.cache
def shape(reason: str) -> re.Pattern[str]:
    """What is looked for, for one of ``REASONS``. Compiled when it is needed: all of them take 20 ms."""
    return re.compile("|".join(_SHAPES[reason]).replace("GAP", r"[^.!?\n]{0,40}"), re.MULTILINE)
