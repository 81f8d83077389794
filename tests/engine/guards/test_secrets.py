"""Secrets are found by their shape, ordinary text is left alone, and looking costs next to nothing."""

from __future__ import annotations

import base64
import hashlib
import random
import time
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memtui.engine.guards.secrets import find_secrets, redact_secrets

_random = random.Random(7)
_LOWER, _DIGITS = "abcdefghijklmnopqrstuvwxyz", "0123456789"


def some(length: int, alphabet: str = _LOWER + _LOWER.upper() + _DIGITS) -> str:
    """Random text with at least one digit: made here, so that no scanner takes this file for a leak."""
    return "".join(_random.choices(alphabet, k=length - 1)) + "7"


HEX, UPPER = "0123456789abcdef", _LOWER.upper() + _DIGITS
PEM = (
    "-----BEGIN {0}PRIVATE KEY-----\n"
    + "\n".join(some(64) for _ in range(4))
    + "\n-----END {0}PRIVATE KEY-----"
)

# The sentence, and the secret in it.
SECRETS = [
    ("aws key", "my key id is {}, rotate it", "AKIA" + some(16, UPPER)),
    ("aws key", "temporary {}", "ASIA" + some(16, UPPER)),
    ("key", "aws_secret_access_key = {}", some(20) + "/" + some(19)),
    ("github token", "git clone with {}.", "ghp_" + some(36)),
    ("github token", "GITHUB_TOKEN={}", "gho_" + some(36)),
    ("github token", "use {}", "github_pat_" + some(22) + "_" + some(59)),
    ("gitlab token", "curl -H 'PRIVATE-TOKEN: {}'", "glpat-" + some(20)),
    (
        "slack token",
        "{} is the bot's",
        "xoxb-" + some(12, _DIGITS) + "-" + some(12, _DIGITS) + "-" + some(24),
    ),
    (
        "slack webhook",
        "post to https://{}",
        "hooks.slack.com/services/T" + some(8, UPPER) + "/B" + some(8, UPPER) + "/x",
    ),
    ("stripe key", "STRIPE={}", "sk_live_" + some(24)),
    ("stripe key", "restricted: {}", "rk_test_" + some(24)),
    ("api key", "export OPENAI_API_KEY={}", "sk-" + some(48)),
    ("api key", "the new one: {}", "sk-proj-" + some(40) + "_" + some(20) + "-" + some(30)),
    ("api key", "Anthropic: {}", "sk-ant-api03-" + some(60) + "-" + some(30) + "AA"),
    ("api key", "router {}", "sk-or-v1-" + some(64, HEX)),
    ("google key", "maps {}", "AIza" + some(35)),
    ("google token", "{}", "ya29." + some(60)),
    ("npm token", "//registry.npmjs.org/:_authToken={}", "npm_" + some(36)),
    ("pypi token", "twine -p {}", "pypi-AgEIcHlwaS5vcmc" + some(70)),
    ("hugging face token", "hf login {}", "hf_" + some(34)),
    ("sendgrid key", "mail: {}", "SG." + some(22) + "." + some(43)),
    ("vault token", "VAULT_TOKEN {}", "hvs." + some(24)),
    ("bot token", "telegram 1234567890{}", ":AA" + some(33)),
    ("jwt", "Bearer {}", "eyJ" + some(20) + ".eyJ" + some(60) + "." + some(43)),
    ("private key", "here:\n{}\nthanks", PEM.format("")),
    ("private key", "{}", PEM.format("RSA ")),
    ("private key", "{}", PEM.format("OPENSSH ")),
    ("password", "password: {}", "hunter2"),
    ("password", "DB_PASSWORD='{}'", "Tr0ub4dor&3"),
    ("password", '{{"user": "ada", "password": "{}"}}', "s3cr3tPass"),
    ("password", "**Password:** {}", "Tulip-42-Garden!"),
    ("password", "the wifi password is {}.", "tulips4ever"),
    ("password", "My password for the bank is {}", "Sunny2019!"),
    ("password", "I changed the password to {}", "X9kd82mm"),
    ("password", "пароль: {}", "Кошка2024!"),
    ("password", "psql postgres://ada:{}@db.example.org:5432/app", "n0tTelling"),
    ("password", "https://ada:{}@git.example.org/x.git", "abcDEF123"),
    ("key", 'api_key="{}"', some(32, _LOWER + _DIGITS)),
    ("key", "X-Api-Key: {}", some(32, HEX)),
    ("secret", "client_secret: {}", some(32)),
    ("token", "access_token={}&scope=all", some(40)),
    ("token", "Authorization: Bearer {}", some(40)),
    ("password", "Authorization: Basic {}", base64.b64encode(b"ada:open sesame 1").decode()),
    ("card number", "my card is {}, exp 12/29", "4111 1111 1111 1111"),
    ("card number", "card:{}", "5555555555554444"),
    ("card number", "amex {}", "3782-822463-10005"),
    ("iban", "IBAN {} and thanks", "DE89 3704 0044 0532 0130 00"),
    ("iban", "transfer to {} AND tell me", "GB29 NWBK 6016 1331 9268 19"),
    ("iban", "{}", "FR1420041010050500013M02606"),
    ("pin", "my PIN is {}", "4821"),
]

ORDINARY = [
    "Ada prefers trains over flights for anything under six hours.",
    "The password is on the fridge, ask Joanna.",
    "Password: required. Token: optional. Secret: none.",
    "I forgot my password again and had to reset it twice in 2023.",
    "Hash every password to sha256, never md5sum; a password must have 12characters",
    "password = os.environ['DB_PASSWORD']; token = getpass.getpass()",
    "password: ${DB_PASSWORD}  api_key: <your-api-key-here-1234567890>  secret: xxxxxxxxxxxxxxxx1",
    "def login(password: str | None = None, token: Optional[str] = None) -> None: ...",
    "password=settings.password_2, token=feature-branch-2-rollout, secret: chapter-12-notes",
    "postgres://user:password@localhost/db and redis://localhost:6379/0 and https://example.org:8080/a@b",
    "https://example.org/users/ada@example.org?time=12:30@noon",
    "max_tokens: 4096, next token: the, key: value, monkey: banana123456789, primary_key=1234567890123",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 fixes it, see 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "id 550e8400-e29b-41d4-a716-446655440000, session 6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "fact_3f2a9c81d0b7 supersedes fact_0011223344ff; cache_key: 9f86d081884c7d659a2feaa0c55ad015",
    "sk-learn is scikit-learn; sk-estimators-version-1-with-many-words is a branch, task-sk-12 too",
    "Call +44 7700 900123 or +1 (555) 010-9999, extension 1234567890123456789",
    "order 4111 1111 1111 1112 (a typo), tracking 1234567890123456, invoice 2024-0001-0002-0003-0004",
    "time 1700000000000, tweet 1580661436132757504, pi 3.14159265358979323846, 4242424242424242424242",
    "isbn 978-3-16-148410-0, mac 00:1A:2B:3C:4D:5E, ip 192.168.100.200, port 5432, zip 94110-1234",
    "GB29 is not an account, DE12 3456 7890 1234 5678 90 has wrong check digits",
    "the pin code is on page 1234, spin: 12345, pin 4 of the chip, shipping: 123456",
    "key: C major, secret santa is on 24 December 2024, token ring network 802.5",
    "pypi-server, npm_config_registry, AIzawa, ghp_short, hf_hub, xoxo-kisses, SG. as in Singapore",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----",
    "-----BEGIN PRIVATE KEY----- is the first line of such a file",
    "eyJhbGciOiJIUzI1NiJ9 alone is only a header",
    "Bearer bonds were 4 percent; a bearer of good news arrived at 10:30",
    "![](data:image/png;base64," + base64.b64encode(_random.randbytes(3000)).decode() + ")",
    "rows: " + " ".join(hashlib.sha1(str(n).encode()).hexdigest() for n in range(50)),
    "ids: " + ", ".join(str(uuid.UUID(int=_random.getrandbits(128), version=4)) for _ in range(50)),
    "measurements " + " ".join(f"{_random.random() * 10000:.12f}" for _ in range(200)),
    "passwords of 3000 users leaked; pwd prints /home/ada2/projects; cd $pwd",
    "Пароль нужно сменить до 12 мая. 密码は難しい。 La contraseña es larga.",
]


def test_nine_of_ten_secrets_are_found_where_they_are() -> None:
    missed = []
    for kind, sentence, secret in SECRETS:
        text = sentence.format(secret)
        found = [(one.kind, text[one.start : one.end]) for one in find_secrets(text)]
        if (kind, secret) not in found and not any(secret in shown for _, shown in found):
            missed.append((kind, text, found))
    assert len(missed) <= len(SECRETS) // 10, missed


@pytest.mark.parametrize(("kind", "sentence", "secret"), SECRETS)
def test_a_secret_is_gone_after_redaction(kind: str, sentence: str, secret: str) -> None:
    redacted, kinds = redact_secrets(sentence.format(secret))
    assert secret not in redacted
    assert kind in kinds
    assert redact_secrets(redacted) == (redacted, ())


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert [(one.kind, text[one.start : one.end]) for one in find_secrets(text)] == []
    assert redact_secrets(text) == (text, ())


def test_redaction_keeps_the_rest_and_names_each_kind_once() -> None:
    text = "İ password: hunter2, again password: hunter3! Card 4111111111111111."
    assert redact_secrets(text) == (
        "İ password: [redacted: password], again password: [redacted: password] "
        "Card [redacted: card number].",
        ("password", "card number"),
    )


def test_a_key_that_was_cut_off_is_redacted_to_the_end() -> None:
    redacted, kinds = redact_secrets("key:\n-----BEGIN EC PRIVATE KEY-----\n" + some(64) + "\n" + some(20))
    assert (redacted, kinds) == ("key:\n[redacted: private key]", ("private key",))


@given(st.lists(st.one_of(st.text(max_size=10), st.sampled_from([one[2] for one in SECRETS])), max_size=8))
def test_matches_are_in_order_within_the_text_and_apart(parts: list[str]) -> None:
    text = " ".join(parts)
    end = 0
    for match in find_secrets(text):
        assert end <= match.start < match.end <= len(text)
        end = match.end
    redact_secrets(text)


HALF_A_MEGABYTE = {
    "prose": "Ada prefers trains over flights for anything under six hours. ",
    "hashes": "9fceb02d0ae598e95dc970b74767f19372d61af8 ",
    "digits": "4",
    "cards": "4111 1111 1111 1111, ",
    "prefixes": "sk-",
    "sk words": "sk-a-b-c-d ",
    "passwords": "password for ",
    "assigned": "password: password: ",
    "urls": "://a:",
    "begins": "-----BEGIN RSA PRIVATE KEY-----",
    "ibans": "DE89 3704 0044 ",
    "jwt": "eyJ",
    "letters": "a",
}


@pytest.mark.parametrize("name", HALF_A_MEGABYTE)
def test_time_is_linear_in_hostile_text(name: str) -> None:
    piece = HALF_A_MEGABYTE[name]
    times = []
    for length in (50_000, 500_000):
        text = piece * (length // len(piece))
        start = time.thread_time()
        find_secrets(text)
        times.append(time.thread_time() - start)
    assert times[1] < 30 * times[0] + 0.05
    assert times[1] < 2


def test_an_ordinary_message_costs_microseconds() -> None:
    text = "Ada told me that Joanna prefers trains over flights, and the token ring joke is on page 12. " * 3
    best = min(_timed(text) for _ in range(200))
    assert best < 0.0005  # measured 15 us; the bound is for slow machines


def _timed(text: str) -> float:
    start = time.thread_time()
    find_secrets(text)
    return time.thread_time() - start
