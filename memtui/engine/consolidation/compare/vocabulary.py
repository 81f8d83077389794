"""Words that comparing two statements needs: which carry no content, which deny, which mean the same.

English; for other languages every word is content, which makes the comparison stricter, never looser.
"""

from __future__ import annotations

# ruff: noqa: SIM905 - a list of words is easier to read without its quotes

FUNCTION_WORDS = frozenset(
    """
    a an the this that these those some any each both such same own
    i me my mine myself we us our ours ourselves you your yours he him his she her hers it its they them their theirs
    who whom whose which what when where while because if then than so as and or but nor
    is are am was were be been being do does did done doing has have had having will would shall should can could may
    might must s t d ll re ve m isn aren wasn weren don doesn didn won wouldn couldn shouldn hasn haven hadn ain
    of in on at to for with by from into onto upon about over through up out off during
    there here very really quite rather just also too even still already now please really actually currently
    one ones thing things get gets got getting use used using
    user person's users
    """.split()
)

# "without" and "instead" deny what follows as surely as "not" does.
NEGATIONS = frozenset(
    """
    not no never none nobody nothing nowhere neither nor cannot without isn't aren't wasn't weren't don't doesn't didn't
    won't wouldn't couldn't shouldn't hasn't haven't hadn't can't mustn't ain't nt hardly barely unable refuses
    """.split()
)
# They deny when they say that something has ended.
ENDINGS = frozenset("stopped stop quit ended cancelled canceled former formerly ex".split())

# Small words that turn an action round: onto the wall, off the wall.
DIRECTIONS = frozenset("off out down under before after against away until since".split())

NUMBER_WORDS = {
    word: str(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
    if word != "one"  # mostly "one of them"
} | {"thirty": "30", "forty": "40", "fifty": "50", "hundred": "100", "thousand": "1000", "dozen": "12"}

# Groups of words that say the same, apart by semicolons.
_SAME = """
    child children kid kids; woman lady ladies women; man guy men; baby infant; mother mum mom mommy;
    father dad daddy; grandmother grandma granny; grandfather grandpa; partner spouse; friend buddy pal;
    large big huge; small little tiny; young teenage; quick fast rapid; quickly rapidly; loud noisy;
    outside outdoors outdoor; inside indoors indoor; near beside close nearby;
    under below beneath underneath; several many multiple few; talk speak chat; begin start commence;
    buy purchase; photo picture photograph; film movie; car automobile; bicycle bike;
    motorcycle motorbike; shop store; doctor physician; phone telephone; television tv telly;
    apartment flat; holiday vacation; job occupation profession; employer company firm; city town;
    jump leap; throw toss; stone rock; street road; ocean sea; forest woods; beach shore; meal dinner;
    like enjoy; love adore; hate detest loathe; dislike unlike; prefer favour favor; favourite favorite;
    live reside dwell; own possess; need require; want desire; finish complete; repair fix; happy glad;
    sad unhappy; ill sick; clever smart; rich wealthy; tired weary; beautiful pretty; angry mad;
    run jog; crowd people; group bunch; player sportsman; look watch stare; shout yell scream;
    cut slice chop; appointment meeting; boss manager supervisor; colleague coworker; lawyer attorney;
    autumn fall; lift elevator; rubbish garbage trash; sofa couch; tap faucet; trousers pants;
    jumper sweater; biscuit cookie; football soccer; birthday bday; email mail; laptop notebook;
    assist help
"""
SYNONYMS = {word: group.split()[0] for group in _SAME.split(";") for word in group.split()}
