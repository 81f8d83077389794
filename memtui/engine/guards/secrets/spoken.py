"""Secrets in sentences, without a sign: ``the pin of my card is 4711``, ``door code 5512``, ``passwort fürs wlan ist
...``.

Six languages. A word for a secret, perhaps what it is for, perhaps "is", and a value that looks chosen or drawn: numbers
for pins and codes, letters with numbers, signs or capitals for passwords. "The password is on the fridge" has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .tokens import Span

# Without one of these no rule can match.
_HINTS = (
    *("pass", "pwd", "pin", "puk", "code", "cod", "cód", "combina", "kombination", "geheimzahl", "kennw"),
    *("schlüssel", "contrase", "clave", "senha", "mdp", "parola", "chiave", "wifi key", "wi-fi key"),
)


def _alternation(*parts: str) -> str:
    return f"(?:{'|'.join(parts)})"


# Before what a password opens: "the wifi", "del wifi", "da wi-fi".
_NET = _alternation("wi-?fi", "wlan", "internet")
_PASSWORD = _alternation(
    *("passwords?", "pass ?codes?", "pass ?phrases?", "pass ?keys?", "pwd", "pw"),
    *(
        "passw[oö]rte?r?",
        "kennw[oö]rte?r?",
        "mots? de passe",
        "mdp",
        "contrase[ñn]as?",
        "senhas?",
        "palavra[- ]passe",
    ),
    *("parola d['’]ordine", "parola chiave"),
    "(?:wi-?fi|wlan|netzwerk|router)[- ]?(?:key|schlüssel|code|pass|pw|pwd)",
    f"(?:clé|code|clave|chiave|chave|código)(?: d[ue]| del?| do| da)?(?: la| le| l['’])? ?{_NET}",
)
_FOR = _alternation(
    *("for", "to", "of", "on", "at", "in", "from"),
    *(
        "für",
        "fürs",
        "vom",
        "von",
        "zum",
        "zur",
        "im",
        "am",
        "beim",
        "bei",
        "zu",
        "daheim",
        "meiner",
        "meines",
        "unser\\w*",
    ),
    *(
        "pour",
        "d[ue]s?",
        "d['’]",
        "de la",
        "à",
        "au",
        "aux",
        "chez",
        "sur",
        "para",
        "por",
        "del?",
        "en",
        "al?",
        "per",
        "di",
    ),
    *("d[ei]ll['’]?[aoe]?", "da", "dal", "ne[li]", "do", "das?", "n[oa]s?", "em"),
)
_GAP = rf"(?: (?:number|code|nummer|numero|número))?(?: {_FOR}[ '’]?[^\n.:=?!,;]{{1,40}}?)?"
_NOW = _alternation(
    *(
        "now",
        "still",
        "just",
        "called",
        "jetzt",
        "noch",
        "immer noch",
        "nun",
        "einfach",
        "maintenant",
        "toujours",
    ),
    *("ahora", "simplemente", "ancora", "sempre", "adesso", "ora", "agora", "ainda"),
)
_VERB = _alternation(
    *("['’]s", "s['’]est", " c['’]est", ","),
    *(
        f" {verb}"
        for verb in ("is", "was", "will be", "are", "changed to", "set to", "ist", "war", "lautet", "heißt")
    ),
    *(f" {verb}" for verb in ("est", "sera", "es", "era", "será", "è", "e['’]", "é")),
)
_IS = rf"(?:{_VERB}(?: {_NOW})?| ?[:=]| [-–])"
_QUOTE = r"[\"'`“„«‘]? ?"
_FEWEST_DIGITS = 4
_NUMBER = (
    r"(?P<value>[#*]?\d(?:[ -]?\d){3,7}[#*]?)"
    r"(?![\w%€$£]|[.,:/-]\d| ?(?:st|nd|rd|th|years?|euros?|pages?|seite)\b)"
)
_ENGLISH_PLACE = _alternation(
    *(
        "door",
        "gate",
        "alarm",
        "entry",
        "entrance",
        "access",
        "garage",
        "safe",
        "lock",
        "padlock",
        "lockbox",
        "key ?box",
    ),
    *(
        "keypad",
        "buzzer",
        "lobby",
        "gym",
        "locker",
        "unlock",
        "phone",
        "shed",
        "security",
        "disarm",
        "apartment",
        "flat",
    ),
)
_GERMAN_PLACE = _alternation(
    *("tür", "tor", "alarm", "zugangs", "tresor", "safe", "schloss", "schließfach", "keybox", "schlüsselbox"),
    *("schlüsselkasten", "handy", "eingangs", "garagen", "entsperr"),
)
_GERMAN_OF = _alternation(
    *(
        "\\w*tür\\w*",
        "\\w*tor\\w*",
        "alarm\\w*",
        "tresor\\w*",
        "safe\\w*",
        "schloss",
        "schlosses",
        "\\w*box",
        "garage",
    ),
    *("schließfach", "keller\\w*", "haus\\w*"),
)
_FRENCH_PLACE = _alternation(
    *(
        "porte",
        "portail",
        "immeuble",
        "alarme",
        "coffre",
        "cadenas",
        "interphone",
        "garage",
        "entrée",
        "hall",
    ),
    *("boîte à clés", "carte"),
)
_SPANISH_PLACE = _alternation(
    *(
        "puerta",
        "portal",
        "alarma",
        "caja fuerte",
        "candado",
        "garaje",
        "edificio",
        "móvil",
        "tarjeta",
        "portón",
    ),
)
_ITALIAN_PLACE = _alternation(
    *(
        "porta",
        "portone",
        "allarme",
        "cancello",
        "cassaforte",
        "lucchetto",
        "citofono",
        "garage",
        "carta",
        "bancomat",
    ),
)
_PORTUGUESE_PLACE = _alternation(
    *("porta", "portão", "alarme", "cofre", "cadeado", "garagem", "prédio", "cartão", "celular"),
)
_CODE = _alternation(
    rf"(?:front |back |garage |main )?{_ENGLISH_PLACE}['’]?s? (?:code|combination|combo|pin)",
    r"(?:code|combination) (?:for|to|of|on) [^\n.:=?!,;]{0,18}"
    r"(?:door|gate|alarm|safe|lock|garage|building|keypad|get in|locker)",
    rf"(?:haus|wohnungs|keller|garagen|eingangs)?{_GERMAN_PLACE}[- ]?(?:code|kombination|pin)",
    rf"(?:code|kombination|zahlencode) (?:für|vom|von|zum|zur|am|der|des) (?:\w+ )?{_GERMAN_OF}",
    "digicode",
    rf"code (?:d['’]entrée|d['’]accès|(?:de la|du|de l['’]|pour la|pour le|pour l['’]) ?{_FRENCH_PLACE})",
    rf"(?:c[óo]digo|clave|combinación) (?:de entrada|de acceso|(?:del|de la|de el) {_SPANISH_PLACE})",
    r"(?:codice|combinazione) (?:d['’]ingresso|d['’]accesso|"
    rf"(?:della?|dell['’]|del|per la|per il|per l['’]) ?{_ITALIAN_PLACE})",
    rf"(?:c[óo]digo|combinação|segredo) (?:de entrada|de acesso|d[oa] {_PORTUGUESE_PLACE})",
)
_PIN = _alternation(
    *(
        "pin",
        "puk",
        "pincode",
        "geheimzahl",
        "geheimnummer",
        "code pin",
        "code secret",
        "codice pin",
        "c[óo]digo pin",
    ),
)
_MY = _alternation(
    *(
        "my",
        "the",
        "our",
        "her",
        "his",
        "mein\\w*",
        "unser\\w*",
        "d(?:ie|er|as)",
        "mon",
        "ma",
        "le",
        "la",
        "notre",
        "mi",
        "el",
    ),
    *("nuestr\\w+", "il", "il mio", "la mia", "o", "a", "o meu", "a minha", "nosso"),
)
# Compiled when a hint is met: all of them take 7 ms.
_SAID_NUMBER = rf"(?<![\w-])(?:(?P<code>{_CODE})(?:{_GAP}{_IS})?|{_PIN}{_GAP}{_IS}|{_PIN}) {_QUOTE}{_NUMBER}"
_NUMBER_BEFORE = (
    rf"(?<![\w.,:/-]){_NUMBER} (?:is|ist|est|es|è|é)(?: still| now| noch)? {_MY} (?:\w+ )?"
    rf"(?:{_PIN}|(?P<code>{_CODE})|{_PASSWORD})(?!\w)"
)
_SAID_PASSWORD = (
    rf"(?<![\w-]){_PASSWORD}{_GAP}{_IS} {_QUOTE}"
    r"(?P<value>[^\s\"'`“”„«»,;<>\[\]{}()|\\]{4,60})(?P<rest> ?[^\n]{0,12})"
)
_ends = re.compile(
    r"['\"”“»’`) ]*(?:$|\n|[.,;!?)](?:\s|$)|[-–—(:]|(?:and|but|und|aber|et|mais|y|pero|e|ma|mas)\b)"
)
_unit = re.compile(
    r" ?(?:char|zeichen|caract|letters?|digits?|words?|days?|tage|jours|giorni|dias|días|months?|years?)"
)
_camel = re.compile(r"[a-zß-ÿ][A-ZÀ-Þ]")
_amount = re.compile(r"\d+(?:st|nd|rd|th|[a-z]{1,5})|\w+\.\w{1,4}|\d{1,2}[./:-]\d{1,2}(?:[./:-]\d{2,4})?")
_signs = re.compile(r"[!@#$%^&*+=?~_]")


def find_spoken(text: str, lowered: str) -> Iterator[Span]:
    """``lowered`` has a character for each of ``text``."""
    if not any(hint in lowered for hint in _HINTS):
        return
    if sum(map(str.isdecimal, lowered)) >= _FEWEST_DIGITS:
        for pattern in (_SAID_NUMBER, _NUMBER_BEFORE):
            for match in re.finditer(pattern, lowered):
                yield "code" if match["code"] else "pin", *match.span("value")
    for match in re.finditer(_SAID_PASSWORD, lowered):
        start, end = match.span("value")
        end = start + len(text[start:end].rstrip(".,;:”’*!?"))
        if _looks_like_secret_value(
            text[start:end], text[end : match.end("rest")], lowered[match.start() : start]
        ):
            yield "password", start, end


def _looks_like_secret_value(value: str, after: str, before: str) -> bool:
    """Whether it can only be a value: what describes a password is made of small letters."""
    if len(value) < 4 or _amount.fullmatch(value.lower()) or "://" in value or "redacted" in value.lower():
        return False
    if any(character.isdigit() for character in value):
        return not (value.isdigit() and (_unit.match(after) or (len(value) < 5 and re.match(r" \w", after))))
    if _signs.search(value[:-1]) or _camel.search(value):
        return True
    # "is Sunflower." in languages that write nouns small.
    small = re.search(r"(?:passwor[td]|kennwort|schlüssel)\b", before) is None or "password" in before
    return small and value[0].isupper() and value[1:].islower() and _ends.match(after) is not None
