"""What the ``fast`` entity finder sees, and what it leaves alone."""

from __future__ import annotations

import time

import pytest
from memtui.engine.models.entity_linker import mentions_of
from memtui.engine.models.ner import (
    KnownNames,
    NameRecogniser,
    NameSpan,
    merge_spans,
    providers,
    readable_part,
)
from memtui.engine.models.ner.patterns import is_date
from memtui.engine.store.entities import Mention

FAST = NameRecogniser()


def extract_fast(text: str, known: KnownNames | None = None) -> tuple[NameSpan, ...]:
    return merge_spans(
        [*FAST.find_names_by_rules(text), *(known.find_names(readable_part(text)) if known else [])]
    )


def found(text: str, known: KnownNames | None = None) -> list[tuple[str, str]]:
    return [(span.name, span.type) for span in extract_fast(text, known)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see https://example.org/Foo/Bar.", [("https://example.org/Foo/Bar", "url")]),
        ("(HTTPS://Example.ORG/Some/Path?Q=A)", [("https://example.org/Some/Path?Q=A", "url")]),
        ("<https://example.org/>, ok", [("https://example.org", "url")]),
        ("[docs](https://example.org/a_(b)) and more", [("https://example.org/a_(b)", "url")]),
        ("www.example.org/x!", [("www.example.org/x", "url")]),
        ("http://localhost:8080/api", [("http://localhost:8080/api", "url")]),
        ("https://", []),
        ("write to Ada.L@Example.org.", [("ada.l@example.org", "email")]),
        ("<first.last+tag@mail.example.co.uk>", [("first.last+tag@mail.example.co.uk", "email")]),
        ("a@b", []),
        ("a@b is no handle, nor is user@localhost", []),
        ("ask @ben_k, please", [("ben_k", "person")]),
        ("(@Ольга) hi", [("Ольга", "person")]),
        ("cc @ben.", [("ben", "person")]),
        ("@here @all @channel", []),
        ("https://social.example/@ben", [("https://social.example/@ben", "url")]),
        ("git@example.org:x/y", [("git@example.org", "email")]),
        ("we ship #apollo-2 and #café", [("apollo-2", "project"), ("café", "project")]),
        ("issue #12, C#, &#39; and #fff or #a1b2c3", []),
        ("https://example.org/#part", [("https://example.org/#part", "url")]),
        ("`@property` and ```\n@decorator #tag Name\n``` done", []),
    ],
)
def test_marked_entities_end_where_they_end(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on 2023-05-08.", ["2023-05-08"]),
        ("on 8 May 2023", ["2023-05-08"]),
        ("on the 8th of May, 2023", ["2023-05-08"]),
        ("on May 8, 2023", ["2023-05-08"]),
        ("on Sept. 3rd 2024", ["2024-09-03"]),
        ("am 08.05.2023 war", ["2023-05-08"]),
        ("in december 2023", ["2023-12"]),
        ("due May 8", ["8 May"]),
        ("from 3 to 5 oct", ["5 October"]),
        ("you may 8 times, and 9 may be", []),
        ("at 10:30, version 1.2.2023.4, 12345-05-08, 2023-13-40, page 8 Mayor, 31.31.2023", []),
        ("İ 8 May 2023", ["2023-05-08"]),
    ],
)
def test_dates_are_absolute_and_normalised(text: str, expected: list[str]) -> None:
    assert [span.name for span in extract_fast(text) if span.type == "date"] == expected


@pytest.mark.parametrize(
    "text", ["due on 14 June.", "due on 14 Jun. Fine.", "on 14 June. See https://example.org/x."]
)
def test_a_full_stop_is_no_part_of_a_date_or_a_link(text: str) -> None:
    assert not [span.text for span in extract_fast(text) if span.text.endswith(".")]


# Notes as people and assistants write them, with the names in them.
NOTES = [
    ("Had lunch with Joanna and Marcus today.", ["Joanna", "Marcus"]),
    ("Ada is vegetarian since March.", ["Ada"]),
    ("Prefers trains over flights for anything under six hours.", []),
    ("Considering a move to Porto next year.", ["Porto"]),
    ("My sister Greta works at Siemens AG in Munich.", ["Greta", "Siemens AG", "Munich"]),
    ("The Apollo project slipped by two weeks.", ["Apollo"]),
    ("Standup moved to 10:30 on Tuesdays.", []),
    ("We flew to New York and then drove to Boston.", ["New York", "Boston"]),
    ("Dr. Anika Rao said the results are fine.", ["Anika Rao"]),
    ("Ludwig van Beethoven's ninth is my favourite.", ["Ludwig van Beethoven"]),
    ("She studied at the University of Lisbon with Tiago.", ["University of Lisbon", "Tiago"]),
    ("Joanna's birthday is in May.", ["Joanna"]),
    ("I told Ben that I'd call him on Monday.", ["Ben"]),
    ("Remember: Priya is allergic to walnuts.", ["Priya"]),
    ("Call Grandma Rosa about the garden.", ["Rosa"]),
    ("We use PostgreSQL and Redis for Project Lighthouse.", ["PostgreSQL", "Redis", "Lighthouse"]),
    ("Moved the backups from Dropbox to a NAS at home.", ["Dropbox"]),
    ("Can you draft an email to Mr. Okafor?", ["Okafor"]),
    ("Thanks! That worked. Now add tests, please.", []),
    ("The meeting with Bank of America is on Friday.", ["Bank of America"]),
    ("Hannah, Omar and I went hiking near Lake Como.", ["Hannah", "Omar", "Lake Como"]),
    ("He plays the violin in the Riverside Orchestra.", ["Riverside Orchestra"]),
    ("What does Ada eat?", ["Ada"]),
    ("Jean-Luc and O'Brien fixed the pump.", ["Jean-Luc", "O'Brien"]),
    ("In Kyoto we stayed at a small guesthouse.", ["Kyoto"]),
    ("My therapist, Elena Petrova, recommended journaling.", ["Elena Petrova"]),
    ("J. R. R. Tolkien wrote it.", ["J. R. R. Tolkien"]),
    ("We met A. Lovelace and A. A. Milne at the fair.", ["A. Lovelace", "A. A. Milne"]),
    ("I got an A. Then we took plan A.", []),
    ("I live on Elm Street, close to Victoria Station.", ["Elm Street", "Victoria Station"]),
    ("Likes jazz, dislikes loud restaurants.", []),
    ("The cat is called Mochi.", ["Mochi"]),
    ("Yesterday Samuel finished his thesis on Descartes.", ["Samuel", "Descartes"]),
    ("Please write a function that parses ISO dates in Python.", ["Python"]),
    ("I work for Nordlicht Energie, a small company.", ["Nordlicht Energie"]),
    ("Сегодня Ольга поехала в Москву с Петром.", ["Ольга", "Москву", "Петром"]),
    ("Η Μαρία μένει στην Αθήνα.", ["Μαρία", "Αθήνα"]),
    ("Ich habe gestern mit Jürgen in Köln gegessen, das Essen war nicht teuer.", ["Jürgen", "Köln"]),
    ("Let's name the boat “Halcyon” after the book.", ["Halcyon"]),
    ("Note to self: return the drill to Viktor.", ["Viktor"]),
    ("Sure, I can help with that. First, open the settings.", []),
    ("The US trip with Chloe and Mateo costs 3,000.", ["Chloe", "Mateo"]),
]


def test_names_in_notes_are_found_with_few_mistakes() -> None:
    expected, seen, right = 0, 0, 0
    mistakes = []
    for text, names in NOTES:
        ours = [span.name for span in extract_fast(text) if span.type != "date"]
        expected, seen = expected + len(names), seen + len(ours)
        hits = len(set(names) & set(ours))
        right += hits
        if set(names) != set(ours):
            mistakes.append((text, names, ours))
    assert right / expected >= 0.95, mistakes
    assert right / seen >= 0.9, mistakes


@pytest.mark.parametrize(
    ("text", "name", "type"),
    [
        ("My wife Zsuzsa paints.", "Zsuzsa", "person"),
        ("I met Elena Petrova there.", "Elena Petrova", "person"),
        ("Then Oksana said no.", "Oksana", "person"),
        ("Ask Prof. Ilić about it.", "Ilić", "person"),
        ("We flew to Tromsø.", "Tromsø", "location"),
        ("It snowed in Abisko.", "Abisko", "location"),
        ("We met at Lake Bled.", "Lake Bled", "location"),
        ("He works at Contoso now.", "Contoso", "organization"),
        ("I signed with Acme Ltd. today.", "Acme Ltd", "organization"),
        ("The Nimbus project is late.", "Nimbus", "project"),
        ("I joined project Nimbus.", "Nimbus", "project"),
        ("Project Nimbus is late.", "Nimbus", "project"),
        ("We talked about the Nimbus Project.", "Nimbus", "project"),
        ("It is written in Rust.", "Rust", "other"),
        ("We met in Dan's kitchen.", "Dan", "person"),
        ("I run in Brooks.", "Brooks", "other"),
        ("Der Hund heißt Bello.", "Bello", "person"),
        ("Manfred Kießling called.", "Manfred Kießling", "person"),
        ("Billy Jones broke the window.", "Billy Jones", "person"),
        ("Mein Bruder Jonas wohnt in Köln.", "Jonas", "person"),
        ("Tidewrack is a small cooperative.", "Tidewrack", "organization"),
        ("Ingrid is my team lead.", "Ingrid", "person"),
        ("Zorvath is our team lead now.", "Zorvath", "person"),
        ("We saw Brennholm, the bank manager.", "Brennholm", "person"),
        ("Tidewrack is our team.", "Tidewrack", "organization"),
        ("Tidewrack is a startup called so by its lead.", "Tidewrack", "organization"),
        ("Our cat Quillon sleeps.", "Quillon", "other"),
        ("We saw Brennholm, a village by the sea.", "Brennholm", "location"),
        ("Meet at Lindengracht tonight.", "Lindengracht", "location"),
        ("It was in Ada's coat.", "Ada", "person"),
        ("I work with Olga Petrova there.", "Olga Petrova", "person"),
        ("Then came Ada, Zbyszek and Ottilia.", "Zbyszek", "person"),
        ("We asked about Zorvath; then my friend Zorvath came.", "Zorvath", "person"),
        ("我和王芳吃饭。", "王芳", "person"),
        ("昨日は田中さんが来た。", "田中", "person"),
        ("박지훈 씨가 왔다.", "박지훈", "person"),
        ("قابلت السيد كريم اليوم.", "كريم", "person"),
        ("श्री विजय आए।", "विजय", "person"),
        ("Вчера были в Казани.", "Казани", "location"),
        ("I drive a Skoda Fabia.", "Skoda Fabia", "other"),
        ("The Skoda Fabia is in the garage.", "Skoda Fabia", "other"),
        ("Dinner with Sam Lee in New York", "Sam Lee", "person"),
        ("Dinner with Sam Lee in New York", "New York", "location"),
        ("Bought it at Aldi on Tuesday.", "Aldi", "organization"),
        ("The talk is with B. Miller at noon.", "B. Miller", "person"),
        ("lunch with marta kowalski in gdańsk", "marta kowalski", "person"),
        ("lunch with marta kowalski in gdańsk", "gdańsk", "location"),
        ("cancel spotify before friday", "spotify", "other"),
    ],
)
def test_neighbours_tell_the_type(text: str, name: str, type: str) -> None:
    assert (name, type) in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "I think I'm done. It's fine. Don't worry. They've left on Monday in May.",
        "HELP ME PLEASE THE SERVER IS DOWN AGAIN",
        "# How To Write Good Notes\n\nwrite less.",
        "Ten Simple Rules For Better Sleep",
        "Dentist on Monday at nine",
        "Dentist: moved to Tuesday, then lunch.",
        "On Tuesday and Friday, not on Sunday.",
        "She speaks Swedish, Portuguese and a little Greek.",
        "GET and POST work, PUT and PATCH do not.",
        "Der Zahnarzt hat die Rechnung geschickt, das Rezept liegt in der Küche.",
        "the dentist moved my appointment to the afternoon",
        "buy milk, bread and olive oil on the way home",
        "Der Hund und die Katze sind nicht im Garten, das Wetter ist schlecht für einen Spaziergang.",
        "Meine Schuhe haben Größe 42 und der Arzttermin ist Freitag",
        "Der Vertrag liegt im Schrank bei den Schuhen.",
        "Steuererklärung bis Juli abgeben, Belege liegen im Ordner",
        "Montag ist Training, Dienstag Chor",
        "Ich spreche Deutsch und Spanisch",
        "the JSON API returns a PDF over HTTP, see README and TODO",
        "raise ValueError(Foo), Config.toml, path/To/File, Some_Name, TypeError",
        "Is this a test? Yes. No. Maybe. Running late. Meeting at noon.",
        "今天天气很好。你好!",
        "Kept, and I'll tell you. Kindly note. Bread and salt. Rejected, then stored.",
        "They read Scandinavian novels in Japanese.",
        "",
        "   \n\t  ",
    ],
)
def test_ordinary_text_names_nobody(text: str) -> None:
    assert found(text) == []


def test_known_names_come_first_with_their_own_name_and_type() -> None:
    known = KnownNames([("JJ", "Joanna Jensen", "person"), ("Mercury", "Mercury", "project")])
    assert found("Mercury was JJ's idea.", known) == [("Mercury", "project"), ("Joanna Jensen", "person")]


def test_known_names_match_whole_words_in_any_case_and_form() -> None:
    known = KnownNames([("Ann", "Ann", "person"), ("Zoë Straße", "Zoë", "person"), ("C++", "C++", "other")])
    assert known.find_names("anna and joanna annoy a cannon") == []
    assert found("Ada Lovelace", KnownNames([("Ada Love", "x", "project")])) == [("Ada Lovelace", "person")]
    assert found("i saw ann yesterday", known) == [("Ann", "person")]
    assert found("ZOË STRASSE", known) == [("Zoë", "person")]
    assert found("with Zoe\u0308 Straße there", known) == [("Zoë", "person")]
    assert found("Zoë\nStraße", known) == [("Zoë", "person")]
    assert ("C++", "other") in found("he likes C++, not c", known)


def test_a_known_name_that_is_a_word_needs_its_capital_within_a_sentence() -> None:
    known = KnownNames([("Will", "Will", "person"), ("May", "May Lin", "person")])
    assert found("Will you come? may I? it will.", known) == []
    assert found("I asked Will and May.", known) == [("Will", "person"), ("May Lin", "person")]


def test_the_longest_known_name_wins() -> None:
    known = KnownNames([("Ada", "Ada", "person"), ("Ada Lovelace", "Ada Lovelace", "person")])
    assert found("Ada Lovelace and Ada", known) == [("Ada Lovelace", "person"), ("Ada", "person")]


def test_scripts_without_blanks_are_searched_for_known_names() -> None:
    known = KnownNames(
        [("田中", "田中太郎", "person"), ("東京", "東京", "location"), ("สมชาย", "สมชาย", "person")]
    )
    assert found("昨日田中さんと東京で会った", known) == [("田中太郎", "person"), ("東京", "location")]
    assert found("ฉันเจอสมชายเมื่อวาน", known) == [("สมชาย", "person")]


def test_an_alias_of_signs_or_one_letter_is_not_searched_for() -> None:
    known = KnownNames([("", "x", "other"), ("--", "x", "other"), ("a", "x", "other"), ("%", "x", "other")])
    assert len(known) == 0
    assert found("a -- % b", known) == []


def test_merging_keeps_the_most_confident_then_the_longest() -> None:
    def span(start: int, end: int, confidence: float) -> NameSpan:
        return NameSpan(
            text="x" * (end - start),
            start=start,
            end=end,
            type="other",
            confidence=confidence,
            provider="",
            name="x",
        )

    a, b, c, d = span(0, 5, 0.6), span(3, 9, 0.9), span(8, 12, 0.6), span(9, 11, 0.6)
    assert merge_spans([a, b, c, d]) == (b, d)
    assert merge_spans([a, c, d]) == (a, c)


def test_mentions_are_each_name_once_as_first_written() -> None:
    text = "Joanna met @joanna and JOANNA's friend; Ada@Example.org, ada@example.org"
    assert mentions_of(extract_fast(text)) == (
        Mention("Joanna", "person", "Joanna"),
        Mention("joanna", "person", "@joanna"),
        Mention("ada@example.org", "email", "Ada@Example.org"),
    )


def test_a_message_costs_a_fraction_of_a_millisecond() -> None:
    text = (
        "Had a call with Joanna about the Apollo project on 8 May 2023, she will move to Lisbon in June. "
        "Marcus from Siemens AG sent https://example.org/Foo and asked @ben to reply about it later."
    )
    known = KnownNames((f"Name{n} Other{n}", f"Name{n}", "person") for n in range(5000))
    extract_fast(text, known)
    times = []
    for _ in range(200):
        start = time.thread_time()
        extract_fast(text, known)
        times.append(time.thread_time() - start)
    assert min(times) < 0.002  # measured 0.13 ms; the bound is for slow machines


@pytest.mark.parametrize(
    "name",
    [
        "March",
        "Tuesday",
        "12 May",
        "May 12",
        "early March",
        "Tuesday morning",
        "Friday 13",
        "12 June 2026",
        "2026-05-12",
        "Lundi",
    ],
)
def test_a_date_is_nobody(name: str) -> None:
    assert is_date(name)
    reply = {"names": [{"n": 1, "name": name, "type": "person"}, {"n": 1, "name": "Ada", "type": "person"}]}
    assert [span.name for span in providers.read_reply(reply, [f"Ada comes on {name} again"])[0]] == ["Ada"]
    assert [found_name for found_name, type in found(f"Ada and {name} are here") if type == "person"] == [
        "Ada"
    ]


@pytest.mark.parametrize(
    "name", ["May", "June Carter", "April", "Jan", "Early", "Ada", "Friday Ltd", "August", "12", ""]
)
def test_what_may_be_a_name_is_no_date(name: str) -> None:
    assert not is_date(name)


@pytest.mark.parametrize(
    "text",
    [
        "March is always busy at the office", "Tuesday works too", "May 12 is the deadline", "In Dezember und im Mai",
        "We met in April and again in August", "Mid-March to end of May", "Am Dienstag ist Chor", "Mon 9am, Tue 10am",
        "Le mardi et le jeudi, en avril", "Meeting moved from Tues to Thurs",
        "Sommer und Herbst, im März", "Christmas and Ramadan", "Juin et juillet", "Mittwochs habe ich Chor",
        "The March release slipped to June", "Winter und Frühling", "Weihnachten, Ostern und Pfingsten",
    ],
)  # fmt: skip
def test_days_months_and_feasts_are_no_people(text: str) -> None:
    assert [name.text for name in extract_fast(text) if name.type != "date"] == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("I met Anna Winter yesterday", ["Anna Winter"]),
        ("Frau Sommer ruft an", ["Sommer"]),
        ("Call Anna Monday", ["Anna"]),
        ("Dinner with Ben May 12", ["Ben"]),
    ],
)
def test_a_month_or_season_after_a_first_name_may_be_a_surname(text: str, names: list[str]) -> None:
    assert [name.text for name in extract_fast(text) if name.type == "person"] == names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[@click=app.quit]here[/] we met @ben_k", [("ben_k", "person")]),
        ("I saw [@click='app.erase(1)']Anna[/@click] today", [("Anna", "person")]),
        ("\x1b[2J\x1b[HAnna met Tom in Oslo.", [("Anna", "person"), ("Tom", "person"), ("Oslo", "location")]),
        ("\x1b]0;Evil Corp\x07Anna likes tea", [("Anna", "person")]),
        ("\x9b31mAnna\x9b0m likes tea", [("Anna", "person")]),
        ("\x1bcAnna likes tea", [("Anna", "person")]),
    ],
)
def test_markup_and_control_sequences_hold_no_names(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected
    assert len(readable_part(text)) == len(text)
    for span in extract_fast(text):
        assert text[span.start : span.end].strip("@") == span.name
