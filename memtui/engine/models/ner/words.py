"""Word lists of the name finder, in small letters.

They are about how people write notes and messages: what opens a sentence without being a name, what
stands beside a name and tells its type.
"""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of a text with blanks between them."""
    return frozenset(text.split())


# Never part of a name, however they are written.
NOT_NAMES = word_set(
    """
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
    awesome bad best better big cool dear fair fine first great happy kind last little lovely new next nice perfect
    same second third chapter figure lead manager management project section slide
    la las los el le les
    english french german spanish portuguese italian dutch russian chinese japanese korean arabic hindi turkish
    polish greek american british european asian african
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
    yaml yolo am pm ad bc ii iii iv vi vii viii xi
    """
)

TITLES = word_set(
    "mr mrs ms miss mx dr prof professor doctor sir lady lord aunt auntie uncle grandma grandpa nurse coach captain "
    "chef judge president senator father sister brother frau herr madame monsieur señor señora"
)
KIN = word_set(
    """
    wife husband partner girlfriend boyfriend fiancé fiancée mother mom mum father dad sister brother son daughter
    aunt uncle cousin niece nephew grandmother grandfather grandma grandpa friend friends colleague boss manager
    neighbour neighbor teacher doctor dentist therapist coach roommate flatmate mentor client classmate teammate
    coworker named called met meet meeting with told asked ask tell call called phoned texted emailed invite
    invited married miss visit hug thank
    """
)
PERSON_VERBS = word_set(
    """
    is was has had says said told tells asked asks likes liked loves loved wants wanted prefers hates thinks
    thought knows knew works worked lives lived moved went came called texted emailed wrote suggested mentioned
    recommended agreed decided plays played cooks cooked eats bought got gave and will would can could does did
    doesn't didn't isn't wasn't won't can't wouldn't enjoys teaches studies joined sent met owns turned
    feels felt believes started finished left needs never always also often usually already still just who
    hat ist war mag wohnt sagt est était a aime es era vive sagte любит живёт сказал сказала работает пришёл пришла
    """
)
PLACE_BEFORE = word_set(
    "in near around across outside inside throughout via visiting visited visit nach à в во из"
)
PLACE_BEFORE_TO = word_set(
    """
    move moved moving moves travel travelled traveled travelling traveling trip trips flight flights flew fly flying
    went go going goes drive drove driving train trains ticket tickets back relocated relocate relocating ferry bus
    visit tour walk hike road way
    """
)
EMPLOYER_BEFORE = word_set(
    "work works worked working job intern interned internship position employed contract role"
)

ORGANISATION_WORDS = word_set(
    """
    inc inc. incorporated ltd ltd. limited llc llp plc gmbh ag kg se corp corp. corporation company co co. university
    universität college school academy institute bank foundation hospital clinic museum agency ministry department
    council group labs laboratory laboratories studio studios airlines airways systems technologies technology
    software solutions partners association society union committee club press records theatre theater orchestra
    church ventures capital holdings bakery restaurant cafe café library football fc united federation party
    consulting insurance pharmacy supermarket
    """
)
PLACE_WORDS = word_set(
    """
    street avenue road lane square park river lake mount mountain mountains island islands bay beach valley airport
    station bridge city county province district republic kingdom ocean sea desert coast forest hill hills harbour
    harbor square plaza boulevard castle canyon falls peninsula
    """
)
PLACE_STARTS = word_set(
    "north south east west northern southern eastern western new saint st san santa são los las rio"
)
# Small words that may stand within a name.
PARTICLES = word_set(
    "of de da di del della do dos das du van von der den ter la le el al bin ibn the und & zu af av"
)
TECHNOLOGY = word_set(
    "python java javascript typescript rust go ruby php swift kotlin docker kubernetes postgres postgresql sqlite "
    "excel react vue linux windows macos github gitlab slack notion jira bash git vim emacs html css figma"
)
GERMAN = word_set(
    "der die das und ist nicht ich ein eine mit auf den im zu wir sie hat habe für dem von bei sich"
)
BEFORE_GERMAN_NAMES = word_set(
    "mit nach von bei und aus für frau herr in an heißt meine mein freundin freund"
)
