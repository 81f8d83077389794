"""Measure what sync costs on PostgreSQL and on S3, and compute it on to many memories.

usage: python tests/benchmarks/sync_capacity.py [--batches 4000]

Every memory has two devices and 100 changes a day, each sent as a batch of its own (the worst case: several changes within
five seconds are one). Measured: the size of a sealed batch of one correction, the bytes that a row takes in PostgreSQL, how
many batches and looks a second one server does here, and the requests that a change and a look take of S3 (counted at a real
store, moto). The prices of S3 are its list prices (us-east-1, 2026). The table goes into ``memtui/guide/sync.md``.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from memtui.engine.records import Stamp
from memtui.engine.sync.batch import Batch, BatchHeader, lines_hash
from memtui.engine.sync.envelope import AgeSealer, Epoch, new_identity
from memtui.engine.sync.stores import open_store

import store_servers

CHANGES, DEVICES = 100, 2
DAY_SECONDS, MONTH_DAYS = 86_400, 30
IDLE_SECONDS, ACTIVE_SECONDS, ACTIVE_HOURS = 60, 5, 4
"""Somebody types four hours a day on one of the devices."""
PEAK = 3
"""The busiest hour has three times the average."""
PUT, GET, GIGABYTE_MONTH = 0.005 / 1_000, 0.0004 / 1_000, 0.023
SIZES = (1, 1_000, 10_000, 100_000, 1_000_000)


def batch(sealer: AgeSealer, number: int) -> bytes:
    """A sealed correction: the new fact, and the old one that it replaced, with their stamps."""
    stamp = Stamp(
        aspect="state",
        seen={"laptop-1a2b3c4d": 1_795_775_002 + number},
        device="laptop-1a2b3c4d",
        at=1_795_775_002,
        actor="person",
    )
    text = (
        '{"line":"memory","id":"fact_%s","kind":"fact","content":"Ada is allergic to %s, not to walnuts","event_time":1795775002,'
        '"created_at":1795775002,"confidence":1.0,"decay_rate":0.0,"trust":"user","source_ids":["ep_%s"],"tags":["health"],'
        '"attributes":{"supersedes":"fact_8981deee424f"},"topic":"health","decided":[{"aspect":"state","seen":%s,"device":"%s","at":%d,"actor":"person"}]}'
    )  # fmt: skip
    seen = str(dict(stamp.seen)).replace("'", '"')
    lines = tuple(
        (text % (secrets.token_hex(6), secrets.token_hex(4), secrets.token_hex(6), seen, stamp.device, stamp.at)).encode()
        for _ in range(2)
    )  # fmt: skip
    header = BatchHeader(
        kind="batch", group=sealer.group, device="laptop-1a2b3c4d", number=number, previous=secrets.token_hex(32), heads={},
        count=len(lines), lines=lines_hash(lines), made_at=1_795_775_002, epoch=sealer.epoch,
    )  # fmt: skip
    return sealer.seal(Batch(header, lines))


def measure_postgres(sealer: AgeSealer, batches: int) -> dict[str, float]:
    import psycopg

    store = open_store(store_servers.postgres_url("capacity-000"))
    sealed = [batch(sealer, number) for number in range(batches)]
    memories = max(batches // CHANGES, 1)
    stores = [open_store(store_servers.postgres_url(f"capacity-{one:03}")) for one in range(4)]
    began = time.perf_counter()
    each = batches // len(stores)

    def write(which: int) -> None:
        for number in range(each):
            stores[which].put_if_absent(
                f"batches/laptop-1a2b3c4d/{number:010}", sealed[which * each + number]
            )

    threads = [threading.Thread(target=write, args=(which,)) for which in range(len(stores))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writes = each * len(stores) / (time.perf_counter() - began)
    with psycopg.connect(store_servers.postgres_uri(), autocommit=True) as admin:
        admin.execute("VACUUM ANALYZE memtui_sync")
        [size] = admin.execute("SELECT pg_total_relation_size('memtui_sync')").fetchone() or (0,)
        [rows] = admin.execute("SELECT count(*) FROM memtui_sync").fetchone() or (0,)
    store.put_if_absent("latest", b"0123456789abcdef")
    looks = 300
    began = time.perf_counter()
    for _ in range(looks):
        one = open_store(store_servers.postgres_url("capacity-000"))
        one.get("latest")
        one.close()
    look_seconds = (time.perf_counter() - began) / looks
    began = time.perf_counter()
    for _ in range(looks):
        store.list_since("batches/laptop-1a2b3c4d/", f"batches/laptop-1a2b3c4d/{each - 2:010}")
    list_seconds = (time.perf_counter() - began) / looks
    began = time.perf_counter()
    for _ in range(looks):
        store.get("latest")
    kept_seconds = (time.perf_counter() - began) / looks
    for one in (store, *stores):
        one.close()
    return {
        "writes": writes, "row": size / rows, "looks": 1 / look_seconds, "looks_connected": 1 / kept_seconds,
        "list_ms": list_seconds * 1_000,
        "memories": memories, "batch": sum(map(len, sealed)) / len(sealed),
    }  # fmt: skip


class Counted:
    """A store that counts its calls, for the requests of a sync."""

    def __init__(self, store: Any, counts: Counter[str]) -> None:
        self._store = store
        self._counts = counts
        self.url = store.url

    def __getattr__(self, name: str) -> Any:
        def call(*given: Any) -> Any:
            self._counts[name] += 1
            return getattr(self._store, name)(*given)

        return (
            call
            if name in ("put_if_absent", "get", "list_since", "replace", "delete")
            else getattr(self._store, name)
        )


def measure_requests() -> tuple[Counter[str], Counter[str], Counter[str]]:
    """The calls of a change (sender, then receiver) and of a look with nothing new, over moto."""
    import os
    import tempfile

    from memtui import Memory
    from memtui.engine.records import Options
    from memtui.engine.sync import stores

    url, real, counts = store_servers.s3_url(), stores.open_store, Counter[str]()
    folder = Path(tempfile.mkdtemp(prefix="memtui-capacity-"))
    options = Options(background=False, embedder="off", allow_unsafe_fs=True)

    def homed(name: str) -> None:
        os.environ["XDG_CONFIG_HOME"] = str(folder / name)

    stores.open_store = lambda place, create=False: Counted(real(place, create=create), counts)  # type: ignore[assignment]
    try:
        with (
            Memory.open(folder / "a.db", options=options) as one,
            Memory.open(folder / "b.db", options=options) as other,
        ):
            homed("a")
            one.remember("Ada lives in Oslo")
            one.sync.run(url)
            code = one.sync.invite().code
            homed("b")
            other.sync.join(url, code)
            for name, memory in (("a", one), ("b", other), ("a", one), ("b", other)):
                homed(name)
                memory.sync.run()
            homed("a")
            one.sync.run_if_changed()
            counts.clear()
            one.sync.run_if_changed()
            look = counts.copy()
            one.remember("Ada lives in Bergen")
            counts.clear()
            one.sync.run_if_changed()
            sent = counts.copy()
            homed("b")
            counts.clear()
            other.sync.run_if_changed()
            return sent, counts.copy(), look
    finally:
        stores.open_store = real


def price(calls: Counter[str]) -> float:
    """Dollars."""
    writes = calls["put_if_absent"] + calls["replace"] + calls["list_since"]
    return writes * PUT + calls["get"] * GET


def table(postgres: dict[str, float], sent: Counter[str], came: Counter[str], look: Counter[str]) -> str:
    active = ACTIVE_HOURS * 3_600 / ACTIVE_SECONDS + (24 - ACTIVE_HOURS) * 3_600 / IDLE_SECONDS
    looks_day = active + (DEVICES - 1) * DAY_SECONDS / IDLE_SECONDS
    change = price(sent) + (DEVICES - 1) * price(came)
    dollars_month = MONTH_DAYS * (CHANGES * change + looks_day * price(look))
    rows = [
        "| memories | batches a day | PostgreSQL grows a year | its load at the peak | S3 grows a year | S3 costs a month |",
        "|---|---|---|---|---|---|",
    ]
    for number in SIZES:
        batches = number * CHANGES
        disk = batches * 365 * postgres["row"]
        stored = batches * 365 * postgres["batch"]
        looks_second = number * looks_day / DAY_SECONDS * PEAK
        writes_second = batches / DAY_SECONDS * PEAK
        kept = stored / 1e9 / 2 * GIGABYTE_MONTH  # on average over the first year
        rows.append(
            f"| {number:,} | {batches:,} | {_bytes(disk)} | {looks_second:,.1f} looks, {writes_second:,.1f} batches "
            f"| {_bytes(stored)} | ${number * dollars_month + kept:,.2f} |"
        )
    return "\n".join(rows)


def _bytes(number: float) -> str:
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if number >= size:
            return f"{number / size:,.1f} {unit}"
    return f"{number / 1e3:,.0f} kB"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batches", type=int, default=4_000)
    given = parser.parse_args()
    sealer = AgeSealer(secrets.token_hex(16), (Epoch(number=1, identity=new_identity()),), bytes(32), {})
    postgres = measure_postgres(sealer, given.batches)
    sent, came, look = measure_requests()
    print({name: round(value, 2) for name, value in postgres.items()})
    print("sent", dict(sent), "came", dict(came), "look", dict(look))
    print(table(postgres, sent, came, look))


if __name__ == "__main__":
    main()
