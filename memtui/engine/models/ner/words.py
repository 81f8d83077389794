"""Word lists of the name finder, in small letters.

They are about how people write notes and messages: what opens a sentence without being a name. What stands
beside a name and tells its type is in ``cues``.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

import msgspec

from memtui.engine.store.tokens import stems


def word_set(text: str) -> frozenset[str]:
    """The words of a text with blanks between them."""
    return frozenset(text.split())


# Never part of a name, however they are written.
NOT_NAMES = word_set(
    """
    montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag januar februar märz juli oktober dezember
    lundi mardi mercredi jeudi vendredi samedi dimanche janvier février juin juillet août septembre octobre novembre
    décembre lunes martes miércoles jueves viernes sábado enero febrero marzo junio julio septiembre octubre
    noviembre diciembre rendez-vous deutsch englisch französisch spanisch italienisch français anglais espagnol
    allemand español inglés francés alemán
    a about above actually after again all almost along already also although always am an and another any
    anyone anything anyway apparently are around as at away back basically be because been before
    being below besides between both bring but by bye call can cannot cheers come congrats
    congratulations could currently definitely despite did do does doing don't done down during each
    early either else enough especially even eventually ever every everybody everyone everything except exactly
    few finally firstly five for four from fun further generally give given glad go going gonna
    good goodbye got guess had haha half hardly has have having he he's hello help hence her here
    here's hers hey hi him his hmm hope hopefully how how's however i i'd i'll i'm i've idk if imho imo in
    indeed initially instead into is isn't it it's its itself just keep lastly lately later least less
    let let's lets like likely lol long look looking looks lots love made make making many may maybe
    me meanwhile might mine more moreover most mostly much must my myself nah near nearly need neither never
    nevertheless no nobody none nope nor not note nothing now obviously occasionally of off often
    oh ok okay omg on once one only onto oops or other others otherwise our ours out over overall own per
    perhaps please plus possibly presumably probably put quite rather re really recently regarding right
    secondly see seems seriously several shall she she's should show since six so some somebody somehow
    someone something sometimes somewhere soon sorry still such sure take tell ten than thank thanks that that's
    the their theirs them then there there's therefore these they they're they've thing things this those
    though three through throughout thus till to today together tomorrow tonight too totally true try trying
    two typically under unfortunately unless unlike until up upon us use used using usually very via wait
    wanna want was we we'll we're we've well were what what's whatever when whenever where where's whereas
    wherever whether which while who who's whoever whole whom whose why will wish with within without won't
    would wow x yeah yep yes yesterday yet you you'd you'll you're you've your yours yup
    mondays tuesdays wednesdays thursdays fridays saturdays sundays weekdays weekends
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
    january february march april june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec spring summer autumn fall winter christmas easter
    ich du er sie es wir ihr mein meine der die das den dem ein eine und oder aber ist sind war hat haben wenn
    wie wo wer wann warum heute morgen gestern nicht kein bitte danke ja nein für mit auf nach
    je tu il elle nous vous ils un une des et ou mais est c'est j'ai j'aime dans pour avec oui non merci
    yo tú él ella nosotros y o pero es son en por para con sí gracias eu ele ela nós o os as um uma e
    io lui lei noi gli ed ma
    я ты он она оно мы вы они это этот эта и но а в на с по у к о из за не что как где когда почему кто да нет
    мой моя мне меня если сегодня завтра вчера потом очень ещё уже можно нужно спасибо
    """
)

# No name alone, though it may be part of one: what opens a note or a request, and nationalities.
OPENERS = word_set(
    """
    swedish danish norwegian finnish deutsch englisch französisch spanisch italienisch portugiesisch türkisch russisch
    awesome bad best better big cool dear fair fine first great happy kind last little lovely new next nice perfect
    same second third chapter figure lead manager management project section slide
    la las los el le les
    english french german spanish portuguese italian dutch russian chinese japanese korean arabic hindi turkish
    polish greek american british european asian african
    accept apply approved assign block bread budget bug bugs coffee conclusion confirmation correction corrections cost
    costs cut data decision decisions dark default dog draw due easy empty error errors fact facts failed fill fits fold
    food forgot full garden half hard heat hide hold honest hot keep kept key keys kitchen late legitimate light
    limit links lists long main message mild mix notes number order own pack park pasta place plain plants pour
    press push quick quiet rain reject rest ride rice roll rollback rule rules salt short slow small soup
    spare split steps stir stored strict sugar table tea twice value values water weather wet
    accepted according add added adding address adopted afternoon agreed ask asked asks attended avoid avoids
    backup begin beginning believe believes birthday book booked bought breakfast build building built buy
    cancel cancelled cancels change changed check checked choose chose class clean click close code collect
    collects compare compared complete completed confirm confirmed consider considering considers continue cook
    cooked cooks copy create created currently daughter day deadline decide decided decides delete deploy
    describe design dinner discuss discussed dislikes does doctor download draft drink drinks drive drives drop
    eat eats email enable ended enjoy enjoyed enjoys ensure evening event every exercise expect expects explain
    explained family favorite favourite feel feels file filed find finish finished fix fixed flight follow found
    friend friends game generate get gets getting goal goals got graduated grew group grow grows gym hate hates
    hear heard holiday home hosted hosts hotel house idea ideas implement import important include including
    install interested interview invite invited issue job join joined keeps kids knew know knows launch laptop
    lead leads learn learned learning learns leave leaves left lesson list listen listens live lived lives living
    lost loved loves lunch married meet meeting meets memory merge mention mentioned met money month morning
    mother move moved moves moving music name named needs night noted old open opened order ordered owns paid
    paint paints parents party password pay pays people phone pick picked plan planned planning plans play played
    plays point practice prefer preferred prefers prepare present price problem promised provide question
    quit ran read reading reads received recommend recommended refactor release released remember reminded
    remove renamed rent rents reply report request reservation restart result return returned review run running
    runs said save saw say says schedule scheduled school search seen sell send sent set share shared ship shipped
    shop shopping shows sister skip sleep sleeps sold son song speak speaks spend spent standup start started
    starting starts status stay stayed stays step stop stopped stops store studied studies study studying suggest
    suggested summary support switch switched taking talk talked talks task teach teaches team test testing text
    think thinking thinks thought ticket time told took tool track train training trains translate travel travels
    tried trip turn turned type understand update updated uses vacation version visit visited visiting visits
    walk walked walks wants watch watched watches wear week weekend went wife words work worked working works
    worried write writes writing written wrote year years
    """
)

# Acronyms of everyday computing and chat: things, not names.
ACRONYMS = word_set(
    """
    ai api ascii asap aws btw cd ci cli cpu crud css csv cto ceo cfo db diy dm dns dob eta etc eu faq fbi fifo fomo
    ftp fyi gb gps gpu gui hr html http https id ide imo ios ip it json jwt kb kpi lgbtq llm mb md ml mri mvp ner
    nlp ok okr oom orm os otp pc pdf pin pm pr qa ram readme rest rfc roi rss rsvp sdk seo sla sms spa sql sso ssd
    ssh ssl tba tbd tcp tdd tldr tls todo tui tv udp ui uk un uri url usa usb usd utc utf ux vm vpn wifi wip xml
    yaml yolo get post put patch head delete options am pm ad bc ii iii iv vi vii viii xi
    """
)


_START = "▁"
"""Stands before what begins a word."""


class _Model(msgspec.Struct):
    vocab: dict[str, int]


class _Tokenizer(msgspec.Struct):
    model: _Model


def ordinary_words(words: Iterable[str]) -> set[str]:
    """Those of the words (as the index gives them) that are ordinary; none where the embedder is not installed."""
    known = _stems()
    return {word for word in words if known and not known.isdisjoint(stems(word))}


@functools.cache
def _stems() -> frozenset[str]:
    spec = find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        return frozenset()
    place = Path(spec.submodule_search_locations[0], "tokenizers", "l2_supercat_tokenizer_config.json")
    if not place.is_file():
        return frozenset()
    vocab = msgspec.json.decode(place.read_bytes(), type=_Tokenizer).model.vocab
    whole = (piece.removeprefix(_START) for piece in vocab if piece.startswith(_START))
    return frozenset(stems(" ".join(word for word in whole if word.isalpha() and word.islower())))
