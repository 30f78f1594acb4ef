"""The acceptance measurements of the gateway: see Tools/gateway-bench."""

import argparse
import json
import sys
import time

import cases
from machine import Postgres
from nodes import nodes

CASES = {"scan": cases.scan, "polls": cases.polls, "sharing": cases.sharing, "uploads": cases.uploads,
         "start": cases.start, "nodes": nodes}


def main():
    parser = argparse.ArgumentParser(prog="Tools/gateway-bench", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES) + "; all but nodes by default")
    parser.add_argument("--programs", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--storage", default="sqlite,postgresql", help="sqlite, postgresql, or both")
    parser.add_argument("--rows", type=int, default=1_000_000, help="scan: rows of the feed")
    parser.add_argument("--connections", type=int, default=64, help="polls: connections, each of a user of its own")
    parser.add_argument("--seconds", type=float, default=10, help="polls, nodes: duration")
    parser.add_argument("--batches", type=int, default=40, help="uploads: batches for each place")
    parser.add_argument("--service", type=int, default=100, help="uploads: milliseconds of the service for each batch")
    parser.add_argument("--clients", type=int, default=1_000, help="nodes: simulated clients")
    parser.add_argument("--rate", type=float, default=250, help="nodes: polls for each second")
    parser.add_argument("--json", action="store_true", help="print an object for each row")
    options = parser.parse_args()
    for name in options.cases:
        if name not in CASES:
            parser.error(f"there is no case {name}")
    missed = 0
    for name in options.cases or [name for name in CASES if name != "nodes"]:
        for storage in options.storage.split(","):
            if storage == "postgresql" and not Postgres.programs:
                print("Skipped: PostgreSQL 15 or later is not installed", file=sys.stderr)
                continue
            began = time.monotonic()
            rows = CASES[name](options.programs, storage, options)
            for row in rows:
                report(name, storage, row, options.json)
                missed += row["met"] is False
            print(f"==> {name} on {storage}: {time.monotonic() - began:.0f} s", file=sys.stderr)
    print(f"==> {missed} bounds were missed", file=sys.stderr)


def report(name, storage, row, as_json):
    if as_json:
        print(json.dumps({"bench": name, "storage": storage, **row}), flush=True)
        return
    verdict = {True: "yes", False: "NO", None: ""}[row["met"]]
    value = f"{row['value']:,}" if isinstance(row["value"], (int, float)) else row["value"]
    print(f"| {row['case']} | {storage} | {value} {row['unit']} | {row['bound']} | {verdict} |", flush=True)


if __name__ == "__main__":
    main()
