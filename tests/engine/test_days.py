"""The day that a statement names, counted from when it was said."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from memtui.engine.days import find_named_day, parse_typed_day
from memtui.engine.errors import InputError

SAID = datetime(2026, 3, 4, 22, 30, tzinfo=UTC)  # a Wednesday


def day(text: str, *, ahead: bool = False) -> str | None:
    found = find_named_day(text, SAID.timestamp(), ahead=ahead)
    return None if found is None else f"{datetime.fromtimestamp(found, UTC):%Y-%m-%d %H}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We are moving in three weeks", "2026-03-25"),
        ("I quit at the bank, my last day is 31 December", "2026-12-31"),
        ("Ich habe gekündigt, mein letzter Tag ist der 31. Dezember", "2026-12-31"),
        ("The review is on Friday", "2026-03-06"),
        ("I fly to Porto next Tuesday", "2026-03-10"),
        ("It's the 12th now", "2026-03-12"),
        ("The deadline is the 2nd", "2026-04-02"),
        ("Am 3. März bin ich in Rom", "2027-03-03"),
        ("Der Termin ist am 12.", "2026-03-12"),
        ("Ich ziehe in drei Wochen um", "2026-03-25"),
        ("Übermorgen habe ich eine Prüfung", "2026-03-06"),
        ("Nächsten Dienstag fliege ich", "2026-03-10"),
        ("On déménage le 5 mai", "2026-05-05"),
        ("Le rendez-vous est mardi prochain", "2026-03-10"),
        ("Je pars dans trois semaines", "2026-03-25"),
        ("El lunes tengo dentista", "2026-03-09"),
        ("La boda es el 5 de mayo de 2027", "2027-05-05"),
        ("The wedding is on 12 June 2027", "2027-06-12"),
        ("The exam is on June 12th", "2026-06-12"),
        ("The launch is 2026-09-30", "2026-09-30"),
        ("The launch is on 30.09.2026", "2026-09-30"),
        ("I moved here yesterday", "2026-03-03"),
        ("I quit my job last Friday", "2026-02-27"),
        ("I adopted a cat on 3 January", "2026-01-03"),
        ("She got married 3 days ago", "2026-03-01"),
        ("The demo moved from Friday to Monday", "2026-03-09"),
        ("The demo is on Monday instead of on Friday", "2026-03-09"),
        ("Ya no es el 20 de marzo, es el 17 de abril", "2026-04-17"),
        ("El viernes 8 de mayo es la entrega", "2026-05-08"),
        ("The demo is thursday next week", "2026-03-12"),
        ("The demo is next week on Monday", "2026-03-09"),
        ("The demo is Sunday next week", "2026-03-15"),
        ("Die Demo ist nächste Woche Donnerstag", "2026-03-12"),
        ("moved to Berlin on 3 january", "2026-01-03"),
        ("I moved to Berlin on 3 january", "2026-01-03"),
        ("Ida moved to Berlin on 3 january", "2026-01-03"),
        ("We painted the shed on 3 january", "2026-01-03"),
        ("The demo moved to 3 january", "2027-01-03"),
        ("Dinner on Friday the 3rd", "2026-04-03"),
        ("She had a rash: no sesame until the test on Friday 17 April", "2026-04-17"),
        ("Sie hatte Ausschlag, der Test ist am Freitag, dem 17. April", "2026-04-17"),
        ("We painted the shed on Saturday 3 January", "2026-01-03"),
        ("The fair opens on Wednesday 30 December", "2026-12-30"),
        ("Dinner on Tuesday, the 7th of April", "2026-04-07"),
        ("Exam on Wednesday the 1st at 9", "2026-04-01"),
        ("Termin am Freitag, dem 3.", "2026-04-03"),
        ("Born on 12 Jan 1850", "1850-01-12"),
        ("We booked the ferry on 3 january", "2027-01-03"),
        # A week, a month, a year: its last day.
        ("Wedding prob june 2027", "2027-06-30"),
        ("We are moving next week", "2026-03-15"),
        ("We are painting the shed this weekend", "2026-03-08"),
        ("The lease starts next month", "2026-04-30"),
        ("We are getting married in September", "2026-09-30"),
        ("We are getting married in February 2028", "2028-02-29"),
        ("I retire in 2031", "2031-12-31"),
        # "Early March" ends on the 10th, the middle of it on the 20th.
        ("We are moving in early June", "2026-06-10"),
        ("The launch is mid-June", "2026-06-20"),
        ("Anfang Juni ziehen wir um", "2026-06-10"),
        ("On déménage mi-juin", "2026-06-20"),
        ("Viajamos a principios de junio", "2026-06-10"),
        ("Late June we move", "2026-06-30"),
        # Counted in words.
        ("El examen es en dos semanas", "2026-03-18"),
        ("Tengo cita el jueves en dos semanas", "2026-03-19"),
        ("Dentro de tres días firmamos", "2026-03-07"),
        # What is put right at once holds.
        ("No wait, Thursday", "2026-03-05"),
        ("Dentist on Tuesday, no wait, Thursday", "2026-03-05"),
        ("The dentist is on Tuesday, I mean Friday at 3", "2026-03-06"),
        ("La cita es el jueves, miento, el viernes", "2026-03-06"),
        ("Termin am Dienstag, nein, Donnerstag", "2026-03-05"),
        ("Rendez-vous mardi, pardon, jeudi", "2026-03-05"),
        # When it was said stands for nothing that it says.
        ("We are moving in three weeks (said 1 January 2025)", "2026-03-25"),
    ],
)
def test_a_day_is_found(text: str, expected: str) -> None:
    assert day(text) == f"{expected} 12"


@pytest.mark.parametrize(
    "text",
    [
        "I'm allergic to nuts",
        "I swim every Friday",
        "I work on Fridays",
        "Jeden Dienstag habe ich Chor",
        "Tous les lundis on mange des pâtes",
        "Cada lunes voy al gimnasio",
        "I may move to Porto",
        "My flat is on the 3rd floor",
        "I have two kids",
        "I take 5 mg in the morning",
        "Por la mañana tomo café",
        "Guten Morgen zusammen",
        "It was the first time in four years",
        "He stopped using it in 2019",
        "I run 12 km",
        "The version is 3.12.4",
        "Call me at 10:30",
        "My number is 0171 5550123",
        "",
    ],
)
def test_what_names_no_day_has_none(text: str) -> None:
    assert day(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-06-12", "2026-06-12"),
        ("12 june", "2026-06-12"),
        ("friday", "2026-03-06"),
        ("june 2027", "2027-06-30"),
        ("thursday next week", "2026-03-12"),
        ("next year", "2027-12-31"),
        ("tomorrow", "2026-03-05"),
    ],
)
def test_a_person_may_give_a_day_in_words(text: str, expected: str) -> None:
    found = parse_typed_day(text, SAID.timestamp())
    assert f"{datetime.fromtimestamp(found, UTC):%Y-%m-%d %H}" == f"{expected} 12"


@pytest.mark.parametrize("text", ["soon", "2026-02-30", "99", ""])
def test_what_is_no_day_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a day"):
        parse_typed_day(text, SAID.timestamp())


def test_the_number_of_a_weekday_is_no_day() -> None:
    assert day("The club meets on the 2nd Tuesday") is None


def test_the_days_of_a_plan_lie_ahead() -> None:
    assert day("We booked the ferry and left the dates open: 3 January", ahead=True) == "2027-01-03 12"


def test_what_was_done_lies_behind_even_in_a_plan() -> None:
    assert day("Moved to Berlin on 3 january", ahead=True) == "2026-01-03 12"


def test_a_day_is_that_of_the_place() -> None:
    # Half past ten in the evening is tomorrow already two hours further east.
    east = timezone(timedelta(hours=2))
    found = find_named_day("I leave tomorrow", SAID.timestamp(), zone=east)
    assert found is not None
    assert f"{datetime.fromtimestamp(found, east):%Y-%m-%d %H}" == "2026-03-06 12"


def test_a_very_long_text_takes_no_time() -> None:
    day("tomorrow")
    start = time.process_time()
    day("on the 3rd in May next in vor am " * 20_000)
    assert time.process_time() - start < 0.5


@pytest.mark.parametrize(
    "text",
    [
        "We meet each week on Thursday", "Thursday is my gym day", "Thursday nights I play chess",
        "I have therapy weekly on Thursday", "The shop is open Monday to Friday",
        "Once a month, on the 15th, I pay rent", "rent goes out on the 1st each month",
        "Die Miete geht am 1. jedes Monats ab", "On va au marché toutes les semaines le jeudi",
        "I do laundry on Sunday mornings", "every Tuesday and on Friday I have class",
    ],
)  # fmt: skip
def test_what_comes_again_and_again_is_no_day(text: str) -> None:
    assert day(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The weekly call moved to Friday", "2026-03-06"),
        ("Every year on 3 May we go to the coast", "2026-05-03"),
        ("Quedé con Ana el viernes", "2026-03-06"),
    ],
)
def test_what_only_looks_like_it_is_a_day(text: str, expected: str) -> None:
    assert day(text) == f"{expected} 12"


@pytest.mark.parametrize("words", ["{}", "until {} 2028"])
def test_an_english_date_is_read_as_in_the_other_languages_which_a_library_reads(words: str) -> None:
    months = {"February": "febrero", "March": "marzo", "April": "abril", "October": "octubre"}
    for number in (1, 3, 5, 28, 29, 30):
        for english, spanish in months.items():
            for before in ("It is on ", "I have been here since "):
                ours = day(before + words.format(f"{number} {english}"))
                library = day(before + words.format(f"{number} de {spanish}"))
                assert ours == library, (before, number, english)


def test_a_date_of_today_is_today() -> None:
    assert day("The party is on 4 March") == "2026-03-04 12"
    assert day("The party is on Wednesday") == "2026-03-11 12"


@pytest.mark.parametrize(
    "text",
    [
        "The engine was serviced in May", "The engine was serviced in May 2025", "We were in Rome in August",
        "The move in October was hard", "The lease ended in April", "Our last trip was in August",
        "The battery has been replaced in June", "We live in Giesing now, since the move in October",
        "Mia started school in September",
        "Der Motor wurde im Mai gewartet", "Das Dach wurde im Juni repariert", "Wir waren im Mai in Rom",
        "Die Hochzeit war im Juni", "Im Mai wurde das Auto verkauft",
        "Le moteur a été révisé en mai", "On était à Rome en mai", "Le mariage était en juin",
        "El motor fue revisado en mayo", "Estuvimos en Roma en mayo", "La boda fue en junio",
    ],
)  # fmt: skip
def test_a_month_that_is_over_is_no_single_day(text: str) -> None:
    assert day(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The contract was signed on 3 January", "2026-01-03"),
        ("The contract was signed on 5 May", "2025-05-05"),
        ("The roof was repaired on Friday", "2026-02-27"),
        ("Der Vertrag wurde am 5. Mai unterschrieben", "2025-05-05"),
        ("Das Dach wurde am Freitag repariert", "2026-02-27"),
        ("Le contrat a été signé le 5 mai", "2025-05-05"),
        ("El contrato se firmó el 5 de mayo", "2025-05-05"),
        ("El tejado fue reparado el viernes", "2026-02-27"),
    ],
)
def test_what_was_done_names_a_day_that_is_over(text: str, expected: str) -> None:
    assert day(text) == f"{expected} 12"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We are getting married in May", "2026-05-31"),
        ("The tickets were booked for 5 May", "2026-05-05"),
        ("The exam was moved to 5 May", "2026-05-05"),
        ("The exam was postponed until May", "2026-05-31"),
        ("He was ill, so the test is on 5 May", "2026-05-05"),
        ("The wedding is in June and the hall was booked", "2026-06-30"),
        ("The engine is serviced in May", "2026-05-31"),
        ("The talk was supposed to be in May", "2026-05-31"),
        ("Der Termin wurde auf den 5. Mai verschoben", "2026-05-05"),
        ("Sie war krank, die Prüfung ist im Mai", "2026-05-31"),
        ("Le rendez-vous a été reporté au 5 mai", "2026-05-05"),
        ("La cita fue aplazada hasta mayo", None),
        ("La cita fue aplazada al 5 de mayo", "2026-05-05"),
        ("La cita fue cambiada al 5 de mayo", "2026-05-05"),
    ],
)
def test_what_was_arranged_lies_ahead(text: str, expected: str | None) -> None:
    assert day(text) == (expected and f"{expected} 12")


@pytest.mark.parametrize(
    "text",
    [
        "Me operaron en enero",
        "Me detectaron hipotiroidismo en enero",
        "En enero me dieron el alta",
        "Compré el coche en enero",
        "Ya pagamos en enero",
        "Me despidieron en abril",
    ],
)
def test_what_was_done_in_a_spanish_month_has_no_day(text: str) -> None:
    assert day(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Podré viajar en enero", "2027-01-31"),
        ("Compraré el coche en enero", "2027-01-31"),
        ("Me cambiaron la cita a enero, es en enero", "2027-01-31"),
        ("Nos entregan las llaves en enero", "2027-01-31"),
    ],
)
def test_what_will_be_in_a_spanish_month_lasts_until_its_end(text: str, expected: str) -> None:
    assert day(text) == f"{expected} 12"


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "I moved in January", "We moved house in January", "I moved jobs in April", "I changed jobs in April",
        "We got the keys in January", "Gave up meat in January", "Broke my wrist in January",
        "Nos mudamos en enero", "Me mudé en enero", "Cambié de trabajo en abril", "Dejé el trabajo en octubre",
        "J'ai changé de boulot en avril", "On a déménagé en janvier", "Ich bin im Oktober umgezogen",
        "Im Januar zogen wir um",
    ],
)  # fmt: skip
def test_a_change_of_life_in_a_month_that_is_over_has_no_day(text: str, ahead: bool) -> None:
    assert day(text, ahead=ahead) is None


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Nos mudamos en mayo", "2026-05-31"),
        ("Nos casamos en enero de 2027", "2027-01-31"),
        ("We are moving in January", "2027-01-31"),
        ("La boda es en enero", "2027-01-31"),
        ("Tenemos cita en enero", "2027-01-31"),
        ("We gave up the boat, the course is in May", "2026-05-31"),
    ],
)
def test_a_month_that_lies_ahead_lasts_until_its_end(text: str, expected: str, ahead: bool) -> None:
    assert day(text, ahead=ahead) == f"{expected} 12"


def test_a_month_in_which_something_began_is_no_plan() -> None:
    assert day("Started at the bank in May", ahead=True) is None
    assert day("We start at the bank in May", ahead=True) == "2026-05-31 12"


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize(
    ("text", "month"),
    [
        ("Finally in Nantes, moved in on the 17th", 10),
        ("Finally in Nantes and moved in on the 17th", 10),
        ("New job at last, I started on the 12th", 10),
        ("Finally in Nantes, the party is on the 17th", 11),
        ("We move in on the 17th", 11),
    ],
)
def test_what_was_done_on_a_day_of_the_month_is_over_also_in_a_later_clause(
    text: str, month: int, ahead: bool
) -> None:
    said_at = datetime(2026, 10, 20, 10, tzinfo=UTC).timestamp()
    found = find_named_day(text, said_at, ahead=ahead, zone=UTC)
    assert found is not None
    assert datetime.fromtimestamp(found, UTC).month == month
