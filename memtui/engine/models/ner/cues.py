"""Cue words beside or within a name that tell its type; lower case, several languages."""

from __future__ import annotations

from pathlib import Path

from memtui.engine import word_lists

from .words import word_set

_LIST = Path(__file__).with_name("cues.txt")

TITLES = word_lists.words(_LIST, "titles")
PROJECT_WORDS = word_set("project projekt projet proyecto progetto projeto проект проекта проекте έργο")
# "The Nimbus rollout": what of a project's is spoken about.
PROJECT_AFTER = word_set(
    "project team release migration launch rollout repo repository roadmap sprint deployment milestone codebase "
    "prototype kickoff backlog initiative"
)
PROJECT_BEFORE = word_set(
    "project codename codenamed deploy deployed deploying launch launched launching relaunch"
)
PROJECT_BEFORE_OF = word_set(
    "deployment launch release rollout codebase backlog milestone roadmap prototype version"
)
PROJECT_STARTS = word_set("operation mission initiative")
KIN = word_lists.words(_LIST, "kin")
# What people do, and other things as well.
COMMON_VERBS = word_lists.words(_LIST, "common verbs")
PERSON_VERBS = COMMON_VERBS | word_set(
    """
    says said told tells asked asks likes liked loves loved wants wanted prefers hates thinks thought knows knew
    works worked lives lived called texted emailed wrote suggested mentioned recommended agreed decided plays
    played cooks cooked eats bought gave enjoys teaches studies joined sent met owns feels felt believes blocked
    conducts suspects reviewing reviews reviewed insists insisted complains complained promised promises offered
    offers paid pays borrowed lent drives drove sings sang paints painted reads writes travels travelled invited
    invites remembers remembered forgot forgets explained explains proposed proposes hopes hoped wonders wondered
    apologised apologized picked picks brought brings helped helps showed shows visited visits married quit
    retired graduated speaks spoke swims runs ran mag wohnt sagt baut arbeitet zieht kommt aime habite travaille
    vive trabaja dice mora trabalha abita lavora werkt woont mieszka pracuje bor сказал сказала любит живёт живет
    работает пришёл пришла просил просила учится выходит расстроилась расстроился уехал уехала приехал приехала
    звонил звонила переехал переехала переїхала переїхав живе працює δουλεύει μένει είπε who
    """
)
# Between two names, these say that both are of a kind.
LIST_JOINTS = frozenset(
    {
        ", ",
        " and ",
        ", and ",
        " & ",
        " or ",
        " und ",
        " y ",
        " e ",
        " et ",
        " и ",
        " і ",
        " i ",
        " och ",
        " και ",
        "/",
    }
)
ARTICLES = word_set(
    "the a an o os as la le les el los las der die das den dem het de η ο το τον την τη του της"
)
PLACE_BEFORE = word_lists.words(_LIST, "place before")
PLACE_BEFORE_TO = word_lists.words(_LIST, "place before to")
# "Grew up in", "lives near" need no list: the preposition says it. A dealing has somebody at its other end.
EMPLOYER_BEFORE = word_lists.words(_LIST, "employer before")
EMPLOYER_JOINTS = word_set("at for with by from bei bij chez en em presso в во w hos på στη στην στο")
DEALINGS = word_lists.words(_LIST, "dealings")
# "Tidewatch is a small cooperative", "Mochi, our cat": what it is said to be.
SAID_TO_BE = {
    "organization": word_set(
        "company cooperative startup firm agency bank band employer supplier vendor charity shop bakery restaurant club "
        "publisher nonprofit manufacturer university school hospital newspaper studio provider team union"
    ),
    "location": word_set(
        "city town village country street neighbourhood neighborhood district suburb island river lake mountain beach "
        "park region province square bar pub cafe café harbour harbor valley"
    ),
    "project": word_set("project migration rewrite initiative programme codename prototype"),
    "other": word_set(
        "dog cat puppy kitten horse rabbit parrot hamster greyhound terrier pet boat car bike app tool library "
        "framework book novel film movie song album game series podcast language database editor browser brand"
    ),
    "person": KIN
    | word_set(
        "engineer designer nurse student lawyer architect writer artist musician developer gardener chef pilot baker "
        "baby toddler woman man girl boy guy lady vegetarian vegan journalist carpenter electrician professor"
    ),
}
# "Our team lead", "the bank manager": of whom a group is only the first word.
PERSON_AFTER_GROUP = word_set(
    "lead leader manager boss captain coach member mate director owner teacher doctor nurse lawyer assistant chair"
)
ANIMALS = word_set("dog cat puppy kitten horse rabbit parrot hamster pet boat")
ORGANISATION_WORDS = word_lists.words(_LIST, "organisation words")
PLACE_WORDS = word_lists.words(_LIST, "place words")
PLACE_STARTS = word_lists.words(_LIST, "place starts")
# Small words that may stand within a name.
PARTICLES = word_set(
    "of de da di del della do dos das du van von der den ter la le el al bin ibn the und & zu af av"
)
TECHNOLOGY = word_lists.words(_LIST, "technology")
GERMAN = word_set(
    "der die das und ist nicht ich ein eine mit auf den im zu wir sie hat habe für dem von bei sich noch nach"
)
# One of these is enough in a short text: no other language has them.
GERMAN_ALONE = word_lists.words(_LIST, "german alone")
BEFORE_GERMAN_NAMES = word_set("mit nach von bei aus frau herr heißt freundin freund")
