"""What a person says about themself that lasts: the shapes of such sentences, class by class.

Matched against a sentence in small letters with contractions written out ("i am", "do not"), at its very
beginning, after lead-ins such as "well," were taken off. The first class that fits gives the tags.
"""

from __future__ import annotations

import re

_ADVERB = (
    r"(?:(?:really|always|usually|generally|mostly|often|sometimes|also|still|now|just|both|all|"
    r"currently|actually|"
    r"absolutely|simply|much|never|normally|mainly|finally|already|recently|do|have|had|definitely|only|"
    r"even|typically|"
    r"personally|therefore|then|strongly|especially|particularly|honestly|basically|probably|maybe|"
    r"perhaps|kind of|"
    r"sort of|tend to|used to|no longer|officially|originally|long since|together|apparently|might|may|"
    r"think i|think we|guess i) )*"
)
_I = rf"(?:i|we|[a-z'-]+ and i|my [\w-]+ and i|both of us) {_ADVERB}"
_BE = r"(?:am|are|was|were|have been)"

FAMILY = (
    r"(?:partner|wife|husband|spouse|girlfriend|boyfriend|fianc[eé]e?|brother|sister|mother|father|mum|"
    r"mom|mummy|dad|daddy|"
    r"parents?|son|daughter|child|children|kids?|baby|twins?|grandmother|grandfather|grandma|grandpa|"
    r"grandparents|"
    r"granddaughter|grandson|aunt|uncle|cousin|niece|nephew|(?:step|half-?|foster )?(?:brother|sister|"
    r"son|daughter)|"
    r"(?:mother|father|brother|sister|son|daughter|parents)-in-law|family|ex|godmother|godfather|godson|"
    r"goddaughter)"
)
PETS = (
    r"(?:dog|cat|puppy|kitten|horse|pony|rabbit|hamster|parrot|bird|tortoise|greyhound|pet|hens?|chickens?)"
)
PEOPLE = (
    r"(?:boss|manager|lead|team ?lead|supervisor|colleague|co-?worker|teammate|team|friend|best friend|"
    r"flat-?mate|"
    r"room-?mate|housemate|neighbou?r|landlord|landlady|doctor|gp|dentist|vet|therapist|"
    r"physio(?:therapist)?|teacher|"
    r"tutor|coach|professor|mentor|client|assistant|accountant|lawyer|business partner|co-?founder|"
    r"intern|pen ?pal)s?"
)
_THINGS = (
    r"(?:name|birthday|e-?mail|address|phone number|number|time ?zone|pronouns|native language|"
    r"mother tongue|nationality|"
    r"goal|dream|hobby|hobbies|car|bike|job|title|role|degree|shoe size|blood type|budget|salary|rent|"
    r"bank|insurance|"
    r"appointment|flight|train|wedding|anniversary|exam|deadline|course|class|training|schedule|shift|"
    r"stand-?up|company|"
    r"school|university|church|band|club|house|flat|apartment|office|laptop|phone|stack|editor|workflow|"
    r"diet|allergy|"
    r"allergies|medication|surgery|operation|holiday|vacation|trip|move|hometown|home town|home|major|"
    r"thesis|project|"
    r"startup|business|shop|garden|kitchen|plan|rule|limit|preference|"
    r"favou?rite(?! (?:part|bit|scene|line|moment)\b)(?: [\w-]+){1,3}|"
    r"main \w+|first \w+)"
)
_ROLES = (
    r"[\w-]*(?:er|or|medic|chanic|ist|ian|ant|ent|eur|ess|yst|man|woman|person|nurse|chef|cook|pilot|mum|mom|dad|nerd|"
    r"fan|native|"
    r"citizen|expat|owl|bird|believer|veteran|widow|graduate|major|intern|lead|clerk|guide|smith|vegan|"
    r"vegetarian)s?"
)
_DAYS = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_WHEN = (
    rf"(?:every (?:other |second |single |two |three |few )?(?:day|week|month|year|morning|evening|night|"
    rf"afternoon|weekend|"
    rf"summer|winter|spring|autumn|hour|{_DAYS}|\d+|\w+ (?:days|weeks|months|hours))|each (?:day|week|"
    rf"month|year|morning|"
    rf"evening|{_DAYS})|on (?:mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|weekdays|"
    rf"weekends)|"
    rf"(?:once|twice|three times|four times|five times|\d+ times|\d+x) (?:a|per|every|each) (?:day|week|"
    rf"month|year)|daily|"
    rf"weekly|monthly|in the (?:mornings|evenings|afternoons)|at (?:the )?weekends?|(?:the )?(?:first|"
    rf"second|third|last) "
    rf"{_DAYS} of (?:the|each|every) month)"
)
_NOT_THIS = (
    r"(?! (?:it|that|this|them|these|those|him|her|you|your|yours|how|what|the (?:way|idea|sound|look|"
    r"first|second|third)|"
    r"to (?:see|know|hear|ask|understand|think|say)|when you|if|where|both|one|either|all of|"
    r"the (?:tone|style|wording|intro\w*|ending|title|result|output|layout|font|structure|last|next|new|old|current)|"
    r"using (?:this|that|the))\b)"
)
# "moved to the next step" is no move; "moved to the countryside" is.
_NO_HOME = (
    r"(?:an?|the|my|our|another|this|that) (?!(?:[\w-]+ ){0,2}(?:house|flat|apartment|home|place|room|dorm|studio|"
    r"building|street|city|town|village|neighbou?rhood|suburbs?|country|countryside|coast|island|farm|cottage|"
    r"mountains|sea|alps|north|south|east|west|capital|netherlands|hague|us|usa|uk|states|philippines|emirates|bronx)\b)"
)
# "a cat function", "two kids running in this process tree"
_OF_CODE = (
    r"(?:functions?|methods?|class|models?|objects?|tables?|components?|modules?|variables?|columns?|fields?|nodes?|"
    r"process|endpoints?|routes?|tests?|scripts?|files?|arrays?|lists?|types?|structs?|schemas?|running)\b"
)
_LASTING = (
    rf"(?:(?:is|are) (?:an?|the|my|our|from|(?:in|at) (?!the (?:kitchen|garden|bathroom|shower|car|house|room|door|"
    rf"next room|moment)\b)|"
    rf"now|still|also|not|\d+|married|retired|pregnant|"
    rf"divorced|called|named|"
    rf"(?:lactose|gluten)[ -]|intolerant|coeliac|celiac|asthmatic|autistic|dyslexic|deaf|blind|colou?r[- ]?blind|pescatarian|"
    rf"engaged|allergic|vegetarian|vegan|diabetic|severely|mildly|terribly|due|on (?!the|my|your|his|her|fire|top)|born|"
    rf"[\w-]+ years|afraid|scared|[\w-]+ and)|has (?!to\b|not\b|just\b|sent|asked|called|said|gone|left|"
    rf"got to|already)\w+|"
    rf"have (?:an?|two|three|four|\d+|been|no|the)|(?:has )?start(?:s|ed) (?:at|as|school|work|"
    rf"university|kindergarten|a)|graduated|lives?|works?|"
    rf"likes?|loves?|hates?|prefers?|enjoys?|does not|do not|cannot|never|always|was (?:born|diagnosed|"
    rf"named)|were born|"
    rf"gets? (?:an?|anxious|nervous|sick|married|{_WHEN})|turns? \d+|turned \d+|moved|studies|study|plays?|"
    rf"speaks?|eats?|"
    rf"drinks?|needs? (?:an?|to|glasses|help)|wants? to|restores?|teaches|teach|owns?|runs?|makes?|"
    rf"collects?|comes? from|grew up|died|passed away|"
    rf"retires?|retired|married|got married|suffers?|takes?|sleeps?|goes to|writes?|builds?|sings?|works as|"
    rf"uses?|manages?|leads?|wears?|reads?|keeps?|visits?|takes care|looks after|knows?)"
)

# (tags, pattern). {I} statements first; "my sister Ada ..." and the person's known people after them.
CLASSES: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (tags, re.compile(pattern))
    for tags, pattern in (
        (
            ("home",),
            rf"{_I}(?:live(?! and | in a simulation| in the (?:terminal|shell|editor|browser|command line|code|past|moment|"
            rf"future))|lived|"
            rf"reside|stay (?:in (?!shape|touch|bed|the loop)|at|with)|moved? (?:(?:to|into) (?!{_NO_HOME})|"
            rf"in|from|out|house|here|back)|{_BE} (?:moving|based|"
            rf"living|renting)|grew up|was born|were born|"
            rf"{_BE} (?:originally )?from (?!the \w+ (?:department|team|office|desk)\b)|come from|rent|"
            rf"been living|settled|"
            rf"(?:bought|own) (?:a|the|our|my) (?:[\w-]+ )?(?:house|flat|apartment|home|cottage|farm)|"
            rf"signed (?:the|a|our|my) lease)\b(?! (?:it|that|on)\b)",
        ),
        (
            ("health",),
            rf"{_I}(?:{_BE} (?:not |no longer )?(?:\w+ly |\d+ (?:weeks|months) )?(?:allergic|intolerant|diabetic|asthmatic|"
            rf"coeliac|celiac|"
            rf"pregnant|colou?r[- ]?blind|deaf|"
            rf"blind|left[- ]handed|dyslexic|autistic|lactose|gluten|short-?sighted|sober|vegetarians?|vegans?|"
            rf"pescatarian|diagnosed)|"
            rf"have (?:[\w-]+ ){{0,3}}(?:allerg(?:y|ies)|asthma|diabetes|migraines?|arthritis|adhd|"
            rf"anxiety|epilepsy|insomnia|"
            rf"intolerance|disorder|syndrome|condition|tinnitus|eczema|high blood pressure|pacemaker|"
            rf"a bad (?:back|knee|hip))|"
            rf"get (?:[\w-]+ )?(?:migraines|hay fever|headaches|seasick|carsick|panic attacks)|"
            rf"overpronate|grind|snore|"
            rf"take (?:\d+ ?m?g|[\w-]+ for (?:my|the)|medication|pills|insulin)|cannot (?:eat|drink|have|"
            rf"tolerate|sleep(?= (?:on|without|with|after|if|when|well|past|through)\b)|take)|"
            rf"do not (?:eat|drink|sleep|smoke|tolerate)|(?:eat|drink) (?:no|only)|(?:stopped|quit|"
            rf"gave up|given up) "
            rf"(?:eating|drinking|smoking|alcohol|meat|sugar|coffee)|wear (?:glasses|contact|hearing|"
            rf"a (?:night|hearing)))\b",
        ),
        (
            ("preference",),
            rf"{_I}(?:like|love|enjoy|prefer|hate|dislike|loathe|cannot stand|adore|avoid|do not (?:like|"
            rf"enjoy|care for|want any)|"
            rf"{_BE} (?:not )?(?:a |an )?(?:big |huge |great )?(?:fan of|into|fond of|keen on|afraid of|"
            rf"scared of)|"
            rf"would rather (?=.*\bthan\b)|(?:eat|drink|use|buy|wear|choose|pick|read) (?=.*\b(?:only|"
            rf"always|never|over)\b))"
            rf"{_NOT_THIS}\b",
        ),
        (
            ("work",),
            rf"{_I}(?:work (?:at|for|as|with|in|on|from|remotely|part|full|half|mostly|closely|nights|a |"
            rf"four|\d|the)|"
            rf"{_BE} (?:working (?:at|for|as|on (?=.*\b(?:called|named|project|startup|novel|thesis|book|"
            rf"game|album|app)\b))|studying|employed|self-employed|freelance|retired|unemployed|promoted|"
            rf"in charge|"
            rf"responsible for|a (?:co-?)?founder|on (?:parental|maternity|paternity) leave)|"
            rf"(?:co-?)?(?:lead|manage|run|own) "
            rf"(?:a|an|the|my|our|two|three)"
            rf"(?! (?:\w+ )?(?:scripts?|tests?|code|quer(?:y|ies)|commands?|linter|build)\b)|"
            rf"teach|study|studied|graduated|started (?:at (?!\d|noon)|as|my|a new job|"
            rf"working|teaching)|"
            rf"joined (?!the (?:\w+ )?(?:call|meeting|tables?|chat|channel|server|results?|strings?|lists?|columns?)\b)|"
            rf"freelance|retired|"
            rf"have (?:over |about |more than |almost )?(?:\d+|\w+)\+? years(?: of|'s?|') (?:[\w-]+ )?experience|"
            rf"got (?:promoted|(?:a|the) (?:new )?job)|resigned|left my job|"
            rf"quit my job|founded|"
            rf"{_BE} the (?:owner|co-?founder|founder|head|ceo|cto|cfo|coo|director|principal|captain)|"
            rf"report to|code in|program in|write (?:code|software|books|novels|music))\b",
        ),
        (
            ("self",),
            rf"{_I}(?:{_BE} (?:not )?an? (?!bit|little|lot|few|couple|tad|total|complete|disaster|beginner$|(?:big |huge |"
            rf"great )?fan)(?:[\w'-]+ ){{0,4}}{_ROLES}\b|"
            rf"{_BE} (?:an? )?\d\d(?=[,.;!]|$| (?:years?|and|but|now|today|soon|this|next|going)\b)|"
            rf"turn(?:ed)? \d\d|"
            rf"{_BE} \d[\d.,]* ?(?:cm|m|kg|lbs?|feet|ft|metres?|meters?)\b|weigh \d+|{_BE} (?:married|divorced|engaged|single|"
            rf"vegetarian|catholic|muslim|"
            rf"jewish|buddhist|atheist|dutch|german|french|spanish|italian|american|british|irish|indian|"
            rf"chinese|japanese|"
            rf"bilingual|a family of|an only child|the (?:oldest|youngest|eldest|middle))\b|speak (?!with|to|about)\w+|"
            rf"have (?:an?|two|three|four|five|\d+|my own|no) (?:[\w-]+ ){{0,3}}(?:sons?|daughters?|"
            rf"child|children|kids?|"
            rf"brothers?|sisters?|siblings?|dogs?|cats?|horses?|cars?|bikes?|house|garden|flat|degree|"
            rf"phd|masters?|licen[cs]e|permit|"
            rf"visa|passport|tattoos?|business|company|shop|boat|allotment|piano|guitar|grandchildren|"
            rf"motorbike|van|camper)\b(?! {_OF_CODE})|"
            rf"drive an?|play (?!with|around|it|that)\w+|ride|sing in|volunteer|collect|practi[sc]e|"
            rf"do (?:yoga|judo|karate|pottery)|"
            rf"(?:never|hardly ever|rarely|seldom|do not|cannot) (?:fly|drive|cook|smoke|swim|ski|dance|vote|gamble|"
            rf"cycle|drink|eat (?:meat|fish|pork|sugar|gluten|dairy|out))|only (?:eat|drink|fly|read)|"
            rf"make (?:cyanotypes|\w+s (?:on|in|at|for))|knit|paint|bake|garden|sail|climb|dance|"
            rf"cycle to)\b|"
            rf"call me (?!when|if|back|later|at|on|in|once|after|before|as|tomorrow|again|whenever|maybe|what|asap|out|"
            rf"up)[a-z]",
        ),
        (
            ("plan",),
            rf"{_I}(?:(?:decided|agreed)(?! to (?:go with (?:option|the|that)|meet at)\b)|chosen|chose|settled on|signed|"
            rf"booked|registered|enrolled|adopted|"
            rf"hired|committed to|applied|"
            rf"got (?:engaged|married|divorced|a (?:dog|cat|puppy))|{_BE} (?:going to (?:the|see|visit|"
            rf"move|study|start|get "
            rf"married|be an? (?:father|mother|dad|mum|mom|parent|uncle|aunt|grand\w+)|"
            rf"stay|live|work|quit|learn|run|adopt|buy|have a baby|marry|retire|spend|"
            rf"[a-z]+ (?:to|for|in|on|from|with))|"
            rf"planning|getting (?:married|divorced|a (?:dog|cat))|"
            rf"expecting (?:(?:an?|our|my|another|twins|triplets) ?(?:\w+ )?(?:baby|child|girl|boy|son|daughter|grand\w+)?"
            rf"(?: in| on|$)|twins|triplets)|saving (?:up )?for|"
            rf"training for|preparing for|learning (?!about|how|that|the)|"
            rf"taking (?:a|part|\w+ (?:classes|lessons))|"
            rf"switching (?:to|from|jobs|careers|schools)|trying to (?:lose|quit|stop \w+ing|save|conceive|learn|gain)|"
            rf"flying to|travelling to|traveling to|"
            rf"visiting|considering|"
            rf"thinking (?:of|about) \w+ing|looking for|tempted|building|"
            rf"writing (?!to\b|(?:an?|the|this|my) (?:\w+ )?(?:e-?mails?|letter|message|text|reply|essay|report|function|"
            rf"script|test)\b)|"
            rf"starting (?!to\b|some|"
            rf"with)|applying|renovating|registered|"
            rf"enrolled|signed up)|plan(?:s|ned)? (?:to|on)|want to (?:learn|become|visit|move|buy|start|"
            rf"study|run|get|work|"
            rf"live|travel|write (?!(?:an?|the|this|my) (?:\w+ )?(?:e-?mails?|letter|message|text|reply|essay|report|"
            rf"function|script|test)"
            rf"\b)|build|retire|lose|quit|stop|be able|speak)|intend to|hope to|"
            rf"will (?:use (?!the (?:first|second|third|last|latter|former|other|same|next|new|old)\b)|move|fly|travel|"
            rf"marry|study|stay in|join|be (?:away|off|in|on)|run the)|(?:given|gave) up|switched (?:to|"
            rf"from)|"
            rf"started (?:learning|running|going|taking|using|a|playing|seeing|therapy)|stopped \w+ing|"
            rf"(?:got |have )?(?:got )?(?:an?|my|our) (?:[\w'-]+ ){{0,2}}(?:appointment|exam|flight|"
            rf"wedding|interview|surgery|operation|"
            rf"meeting|viewing|deadline) (?:to \w+ )?"
            rf"(?:with|on|at|in (?!(?:an?|half an|\w+) (?:min|hour|sec|moment))|for|from|next|this)|are not moving)\b"
            rf"(?! (?:it|that|this|them|him|her)\b)",
        ),
        (
            ("routine",),
            rf"{_I}(?!did|was|were|went|will)[a-z]+\b.*\b{_WHEN}|(?:i|we) (?:never|always|usually|"
            rf"no longer|normally|rarely) "
            rf"(?!said|thought|knew|mind|know|understand|see|want|asked|had|have|been|saw|got|heard|"
            rf"forget|remember|wonder|felt|"
            rf"feel|meant|realis|realiz|"
            rf"get (?:it|that|this|\d|(?:an?|the) (?:\w+ )?(?:\d|error|exception|warning|message|timeout|traceback|failure))|"
            rf"figured|did)[a-z]+\b .{{3,}}|{_I}use "
            rf"(?=[a-z].*\b(?:on all|for (?:all|every|most|everything)|at work|daily|as my)\b)",
        ),
        (
            ("family",),
            rf"(?:my|our) (?:[\w-]+ ){{0,2}}{FAMILY}(?:'s [\w-]+| [\w-]+|"
            rf" [\w-]+ [\w-]+)?,?(?: [^,]{{1,60}},)? {_ADVERB}{_LASTING}\b",
        ),
        (
            ("pet",),
            rf"(?:my|our) (?:[\w-]+ ){{0,3}}{PETS}(?:'s [\w-]+|"
            rf" [\w-]+)?,?(?: [^,]{{1,60}},)? {_ADVERB}{_LASTING}\b",
        ),
        (
            ("people",),
            rf"(?:my|our) (?:[\w-]+ ){{0,2}}{PEOPLE}(?:'s [\w-]+| (?:at|in|from|on|upstairs|"
            rf"downstairs) [\w-]+| [\w-]+| [\w-]+ [\w-]+)?,?"
            rf"(?: [^,]{{1,60}},)? {_ADVERB}{_LASTING}\b",
        ),
        (
            ("self",),
            rf"(?!my name is (?:in|on|at|not|the|wrong|missing|spelled|misspelled)\b)"
            rf"(?!my .{{1,40}}(?:is|are) (?:so |too |very |all )?(?:dead|broken|slow|down|late|delayed|cancelled|charging|"
            rf"on fire|"
            rf"frozen|stuck|lost|gone|killing|not working|acting|driving me|empty|full|loud|noisy|overheating|being)\b)"
            rf"(?:my|our) (?:[\w-]+ ){{0,2}}{_THINGS}(?: (?:at|in|for|with|of|to|on|from|"
            rf"as) [^,.;]{{1,40}})? {_ADVERB}(?:is|are|was|moved|"
            rf"changed|starts?|ends?|takes? place|will be|has been|have been|leaves?|costs?|runs?|"
            rf"consists?|will)\b",
        ),
    )
)  # fmt: skip

# "the standup moved to 10:30", "the appointment is now on Friday": something that was known has changed.
CORRECTION = re.compile(
    rf"(?:the|our|my|this|your|[a-z]+(?:'s)?)(?: [\w'-]+){{0,4}} (?:has |have |was |were |is |are |got |"
    rf"been )*(?:moved|changed|"
    rf"rescheduled|postponed|shifted|brought forward|pushed back|put off|switched|renamed|now|"
    rf"no longer)\b.{{0,60}}\b(?:to|at|on|from|"
    rf"called|instead|and no longer|because|than|until)\b.*(?:\d|{_DAYS}|tomorrow|next|week|month|[a-z]+)"
)
CORRECTING = re.compile(
    r"\b(?:actually|correction|correct that|i was wrong|not .{1,40} (?:but|any ?more)|no longer|"
    r"instead(?: of)?|after all|moved (?:to|from)|"
    r"changed (?:to|from)|rescheduled|postponed|a change|used to|stopped|quit|gave up|given up|switched|"
    r"since then|now)\b"
)

KNOWN_PERSON = re.compile(
    rf"(?:'s [\w-]+(?: [\w-]+)? (?:is|are|was)|(?: and [a-z'-]+)?(?:,[^,]{{1,40}},)? {_ADVERB}{_LASTING})\b"
)

# People come to be known by "my partner Ada Ferreira", "our dog, Rhubarb".
INTRODUCED = re.compile(
    rf"\b(?:[Mm]y|[Oo]ur)\s+(?:[\w-]+\s+){{0,3}}(?:{FAMILY}|{PETS}|{PEOPLE})(?:\s+is)?(?:\s+(?:called|"
    rf"named))?,?\s+"
    rf"(?P<name>[A-Z][^\W\d_]+(?:[ -][A-Z][^\W\d_]+)?)"
)
NAMED_FIRST = re.compile(
    rf"\b(?P<name>[A-Z][^\W\d_]+),?\s+(?:is\s+)?(?:my|our)\s+(?:[\w-]+\s+){{0,2}}(?:{FAMILY}|{PETS}|{PEOPLE})\b"
)
