"""Runs tidelog-simulate on consecutive seeds for some hours, keeps the progress, and writes a report."""

import argparse
import collections
import datetime
import json
import pathlib
import re
import subprocess
import sys
import time

# Seeds between two reports.
CHUNK = 100
# A run is a long life, with hundreds of operations and faults.
LONG_LIVES = ["--steps", "300"]


def arguments():
    parser = argparse.ArgumentParser(prog="Tools/simulate")
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--hours", type=float, required=True, help="the time after which no more seeds are begun")
    parser.add_argument("--first", type=int, default=1, help="the first seed of a new campaign")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(".build/simulate"))
    parser.add_argument("options", nargs="*", default=LONG_LIVES, help="options of tidelog-simulate, after -- (--steps 300)")
    return parser.parse_args()


def git(*words):
    result = subprocess.run(["git", *words], capture_output=True, text=True)
    return result.stdout.strip() if result.returncode == 0 else ""


def commit():
    name = git("rev-parse", "--short", "HEAD") or "unknown"
    return name + (" with changes" if git("status", "--porcelain") else "")


class Campaign:
    """The progress of a campaign, in a file that is replaced after each chunk of seeds."""

    def __init__(self, folder, options, first):
        self.path = folder / "progress.json"
        self.folder = folder
        self.state = {
            "commit": commit(), "options": options, "first": first, "next": first, "seconds": 0.0,
            "counts": {}, "faults": {}, "features": {}, "findings": [],
        }
        folder.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            known = json.loads(self.path.read_text())
            is_same = all(known[key] == self.state[key] for key in ("commit", "options"))
            # A tree with changes may be a different program.
            if is_same and not known["commit"].endswith(" with changes"):
                self.state = known
                print(f"Continues with seed {known['next']}.")
            else:
                print("The earlier progress is of another commit or of other options: begins anew.")

    def add(self, output, count, seconds, has_findings):
        """Adds the output of a chunk. Returns whether the program printed its summary."""
        def numbers(line, kind):
            for name, number in re.findall(r"([A-Za-z][A-Za-z ]*?) (\d+)", line):
                self.state[kind][name.strip()] = self.state[kind].get(name.strip(), 0) + int(number)

        found = {}
        for line in output.splitlines():
            for kind in ("seeds", "faults", "features"):
                if line.startswith(f"simulated {kind}: "):
                    found[kind] = line.split(": ", 1)[1]
        if set(found) != {"seeds", "faults", "features"}:
            return False
        for number, name in re.findall(r"(\d+) ([a-z][a-z ]*?)(?=[,;]|$)", found["seeds"].split(";", 1)[1]):
            self.state["counts"][name] = self.state["counts"].get(name, 0) + int(number)
        numbers(re.sub(r"^\d+ \((.*)\)$", r"\1", found["faults"]), "faults")
        numbers(found["features"], "features")
        findings = output[: output.index("simulated seeds: ")].strip()
        if has_findings:
            self.state["findings"].append(findings)
            with open(self.folder / "findings.txt", "a") as file:
                file.write(findings + "\n\n")
            print(findings)
        self.state["next"] += count
        self.state["seconds"] += seconds
        return True

    def save(self):
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(self.state, indent=1, sort_keys=True))
        new.replace(self.path)
        (self.folder / "report.md").write_text(self.report())

    def report(self):
        state = self.state
        runs = state["next"] - state["first"]
        faults = sum(state["faults"].values())
        seconds = max(state["seconds"], 0.001)

        def table(title, numbers):
            lines = [f"| {title} | |", "|---|---|"]
            return "\n".join(lines + [f"| {name} | {number:,} |" for name, number in sorted(numbers.items())])

        findings = "\n\n".join(f"```\n{text}\n```" for text in state["findings"]) or "None."
        return f"""# Simulator campaign

{datetime.date.today()}, commit {state['commit']}, `tidelog-simulate {' '.join(state['options'])}`: the seeds \
{state['first']} to {state['next'] - 1} in {seconds / 3600:.2f} hours, {runs:,} runs ({runs / seconds:.1f} a second) \
with {faults:,} faults ({faults / seconds:.1f} a second).

{table('count', state['counts'])}

{table('fault', state['faults'])}

{table('feature', state['features'])}

## Findings

{findings}
"""


def main():
    options = arguments()
    campaign = Campaign(options.folder, options.options, options.first)
    end = time.monotonic() + options.hours * 3600
    while time.monotonic() < end:
        first = campaign.state["next"]
        start = time.monotonic()
        command = [options.program, "--seeds", f"{first}..{first + CHUNK - 1}", *options.options]
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        is_complete = run.returncode in (0, 1) and campaign.add(
            run.stdout, CHUNK, time.monotonic() - start, has_findings=run.returncode == 1)
        if not is_complete:
            print(run.stdout)
            sys.exit(f"{' '.join(command)} ended with status {run.returncode}, or without a summary.")
        campaign.save()
    campaign.save()
    runs = campaign.state["next"] - campaign.state["first"]
    findings = len(campaign.state["findings"])
    print(f"{runs:,} runs in all, {findings} groups of seeds with findings; see {campaign.folder}/report.md.")
    sys.exit(1 if findings else 0)


main()
