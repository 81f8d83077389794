"""Make the data file of rules for keys from the configuration of gitleaks (https://github.com/gitleaks/gitleaks, MIT).

    python tests/benchmarks/secret_rules.py gitleaks.toml > memtui/engine/guards/secrets/gitleaks.txt

Left out: rules for files by their name, names of accounts and public keys, and those that ``assigned.py`` and ``tokens.py``
have in a form that fits prose. Go's patterns become Python's; "vendor = value" becomes NEAR, which also reads "vendor ... is".
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

OWN = {
    "generic-api-key",
    "curl-auth-header",
    "curl-auth-user",
    "jwt",
    "private-key",
    "sourcegraph-access-token",
}
NO_SECRETS = {
    "lob-pub-api-key", "flutterwave-public-key", "mailgun-pub-key", "new-relic-browser-api-token", "sendbird-access-id",
    "sumologic-access-id", "mapbox-api-token",
}  # fmt: skip
IDENTITY = r"[\w.-]{0,50}?(?:"
ASSIGNED = r"""(?:[ \t\w.-]{0,20})[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}"""
ENDS = (
    r"""(?:[\x60'"\s;]|\\[nr]|$|\b)""", r"""(?:[\x60'"\s;]|\\[nr]|$)""", r"(?:[^\w-]|\z)", r"(?:[^a-zA-Z0-9+/]|\z)",
)  # fmt: skip


def python(pattern: str) -> str:
    """The pattern of a rule as Python reads it."""
    pattern = pattern.replace("[[:alnum:]]", "[A-Za-z0-9]").replace(r"\z", r"\Z")
    for end in ENDS:
        pattern = pattern.replace(end.replace(r"\z", r"\Z"), "END")
    # "(?i)" in the middle of a Go pattern holds to the end of its group.
    while found := re.search(r"(?<!^)\(\?i\)", pattern):
        depth, at = 0, found.end()
        while at < len(pattern) and depth >= 0:
            step = pattern[at] if pattern[at - 1] != "\\" else ""
            depth += (step == "(") - (step == ")")
            at += 1
        end = at - 1 if depth < 0 else at
        pattern = f"{pattern[: found.start()]}(?i:{pattern[found.end() : end]}){pattern[end:]}"
    return pattern


def near(pattern: str) -> str | None:
    """``vendor NEAR value END``, for a rule that asks for the name of the vendor before the value."""
    plain = pattern.replace(r"[\w.-]{0,50}?(?i:[\w.-]{0,50}?(?:", "(?i)" + IDENTITY).replace(
        ASSIGNED.replace("{0,3}(?:=", "{0,3})(?:=", 1), ASSIGNED
    )
    if not plain.startswith("(?i)" + IDENTITY) or ASSIGNED not in plain:
        return None
    names, _, value = plain.removeprefix("(?i)" + IDENTITY).partition(ASSIGNED)
    names = names.removesuffix(")")
    value = value.partition("|\\b")[0] if value.count("(") < value.count(")") else value
    flag = "(?i:" if "A-Z" not in value else "(?:"
    return rf"(?i:{names})NEAR{flag}{python(value).replace('END', '')})END"


def main() -> None:
    rules = tomllib.loads(Path(sys.argv[1]).read_text())["rules"]
    print(
        "# Rules of gitleaks, https://github.com/gitleaks/gitleaks, made by tests/benchmarks/secret_rules.py."
    )
    for line in (Path(sys.argv[1]).parent / "LICENSE").read_text().splitlines():
        print(f"# {line}".rstrip())
    print("#\n# name, words of which one must be there, least bits a character, pattern")
    for rule in rules:
        name = rule["id"]
        if "path" in rule or name in OWN | NO_SECRETS or name.endswith("client-id"):
            continue
        pattern = near(rule["regex"]) or python(rule["regex"])
        kind = name.replace("-", " ").replace("personnal", "personal")
        print(kind, ",".join(rule["keywords"]), rule.get("entropy", 0), pattern, sep="\t")


if __name__ == "__main__":
    main()
