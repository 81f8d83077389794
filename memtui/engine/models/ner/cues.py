"""Cue words beside or within a name that tell its type; lower case, several languages."""

from __future__ import annotations

from .words import word_set

TITLES = word_set(
    """
    mr mrs ms miss mx dr prof professor doctor sir lady lord aunt auntie uncle grandma grandpa granny nurse coach
    captain chef judge president senator father sister brother mum mom dad mummy daddy
    frau herr großmutter großvater oma opa tante onkel schwester bruder kollege kollegin mevrouw meneer
    madame monsieur sœur frère oncle señor señora hermana hermano tía tío don doña irmã irmão signor signora
    sorella fratello zia zio pan pani господин госпожа доктор профессор сестра брат тётя дядя бабушка дедушка мама
    папа κύριος κυρία κύριο
    """
)
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
KIN = word_set(
    """
    wife husband partner girlfriend boyfriend fiancé fiancée mother mom mum father dad sister brother son daughter
    aunt uncle cousin niece nephew grandmother grandfather grandma grandpa friend friends colleague boss manager
    neighbour neighbor teacher doctor dentist therapist coach roommate flatmate mentor client classmate teammate
    coworker plumber landlord landlady tenant lawyer babysitter cleaner hairdresser supervisor advisor assistant
    named called meet meeting with told asked ask tell call calls phoned texted emailed invite invites
    invited married miss visit hug thank thanks remind reminded recommended by sending asks paying tells dear
    mit con com avec med με με: с со вместе зовут звать зовём heißt appelle appelé llama llamado chama chiama heet
    freundin freund mutter vater meine chef chefin amie ami amiga amigo vriend vriendin hermana mari femme marido mujer
    начальник начальница друг подруга муж жена сын дочь z ze
    """
)
# What people do, and other things as well.
COMMON_VERBS = word_set(
    """
    is was has had will would can could should must does did doesn't didn't isn't wasn't won't can't wouldn't moved went
    came got left needs never always also often usually already still just and turned started finished hat ist war est
    était es era jest ble var
    """
)
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
PLACE_BEFORE = word_set(
    """
    in near around across outside inside throughout into via visiting visited visit toward towards
    nach naar nær à em en w we в во из до у στη στην στο στον στις від
    """
)
PLACE_BEFORE_TO = word_set(
    """
    move moved moving moves travel travelled traveled travelling traveling trip trips flight flights flew fly flying
    went go going goes drive drove driving train trains ticket tickets back relocated relocate relocating ferry bus
    visit tour walk hike road way it collected arrived shipped ship emigrated ride sail sailed come came commute commutes
    """
)
# "Grew up in", "lives near" need no list: the preposition says it. A dealing has somebody at its other end.
EMPLOYER_BEFORE = word_set(
    """
    work works worked working job intern interned internship position employed contract role arbeite arbeitet
    arbeiten travaille trabaja trabajo trabalha trabalho lavora lavoro werkt werk pracuje pracuję работает работаю
    работал работала працює δουλεύει δουλεύω jobbar jobber arbejder notice hired joined consultant engineer nurse
    """
)
EMPLOYER_JOINTS = word_set("at for with by from bei bij chez en em presso в во w hos på στη στην στο")
DEALINGS = word_set(
    """
    contract interview invoice account subscription deal lease quote bill refund order ordered offer shares stock call
    parts insurance policy partnership supplier vendor customer client acquired sued billed service
    """
)
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
ORGANISATION_WORDS = word_set(
    """
    inc inc. incorporated ltd ltd. limited llc llp plc gmbh ag kg se corp corp. corporation company co co. university
    universität université universidad universidade università uniwersytet college school academy institute institut
    bank foundation hospital krankenhaus klinik clinic museum agency ministry department council group labs laboratory
    laboratories studio studios airlines airways systems technologies technology tech software solutions partners
    association society union committee club press records theatre theater orchestra ventures capital holdings
    bakery restaurant cafe café library football fc united federation party consulting insurance pharmacy supermarket
    housing properties realty
    analytics logistics logistik media energy energie marine motors industries international pharma robotics networks
    books publishing verlag stadtwerke sparkasse söhne sons brothers bros brewery hotel ops engineering legal finance
    digital health healthcare mobility aerospace biotech therapeutics collective cooperative spa srl sarl bv nv oy ab as
    банк университет институт компания завод ооо оао
    """
)
PLACE_WORDS = word_set(
    """
    street avenue road lane square park river lake mount mountain mountains island islands bay beach valley airport
    station bridge city county province district republic kingdom ocean sea desert coast forest hill hills harbour
    harbor plaza boulevard castle canyon falls peninsula church cathedral market garden gardens pier quay wharf
    terrace crescent mall stadium arena straße platz allee bahnhof rue calle praça piazza via ulica
    улица улице проспект проспекте площадь площади
    """
)
PLACE_STARTS = word_set(
    "north south east west northern southern eastern western new old upper lower great port fort cape lake mount "
    "saint st san santa são los las rio plaza villa casa"
)
# Small words that may stand within a name.
PARTICLES = word_set(
    "of de da di del della do dos das du van von der den ter la le el al bin ibn the und & zu af av"
)
TECHNOLOGY = word_set(
    "python java javascript typescript rust go ruby php swift kotlin docker kubernetes postgres postgresql sqlite "
    "excel react vue linux windows macos github gitlab slack notion jira bash git vim emacs html css figma redis "
    "kafka spark terraform ansible grafana obsidian zoom photoshop spotify netflix whatsapp telegram signal chrome "
    "firefox android iphone ipad kindle macbook thinkpad"
)
GERMAN = word_set(
    "der die das und ist nicht ich ein eine mit auf den im zu wir sie hat habe für dem von bei sich noch nach"
)
# One of these is enough in a short text: no other language has them.
GERMAN_ALONE = word_set(
    "ist nicht ich eine für und habe wir sich noch mein meine meinen meiner unser unsere heißt wohnt kommt bis liegt liegen "
    "läuft geht sind haben hatte wird werde kein keine vom zum zur beim oder aber wenn jeden jede"
)
BEFORE_GERMAN_NAMES = word_set("mit nach von bei aus frau herr heißt freundin freund")
