"""Equivalent mutants, and the report."""
import os


class Equivalents:
    """The mutants that no test can kill, each with a reason: `Tools/mutation/equivalent.txt`.

    An entry is a line with the key of the mutant, and indented lines with the reason.
    """

    def __init__(self, path):
        self.path, self.reasons = path, {}
        key = None
        if not os.path.exists(path):
            return
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.startswith("#") or not line.strip():
                    continue
                if line.startswith(" "):
                    if key is None:
                        raise SystemExit("Tools/mutate: %s: a reason without a mutant: %s" % (path, line.strip()))
                    self.reasons[key] = (self.reasons[key] + " " + line.strip()).strip()
                else:
                    key = line.rstrip("\n")
                    self.reasons[key] = ""

    def check(self, root):
        """Exits if an entry has no reason, or if its line is no longer in the file."""
        for key, reason in self.reasons.items():
            fields = key.split(" | ")
            if len(fields) < 4 or not reason:
                raise SystemExit("Tools/mutate: %s: no reason, or no mutant: %s" % (self.path, key))
            place = os.path.join(root, fields[0])
            if not os.path.exists(place):
                raise SystemExit("Tools/mutate: %s: stale, there is no such file: %s" % (self.path, key))
            with open(place, encoding="utf-8") as file:
                lines = {line.strip() for line in file}
            text = " | ".join(fields[3:])
            shorter = " | ".join(fields[3:-1]) if fields[-1].isdigit() else text
            if text not in lines and shorter not in lines:
                raise SystemExit("Tools/mutate: %s: stale, the file does not contain the line: %s" % (self.path, key))


def table(parts, results, equivalents, chosen_parts):
    rows = ["| part | mutants | killed | survived | not reached | equivalent | score |", "|---|---|---|---|---|---|---|"]
    totals = [0] * 5
    for part, mutants in parts:
        if part not in chosen_parts:
            continue
        outcomes = [results.get(mutant.key, {}).get("outcome") for mutant in mutants]
        known = [mutant.key in equivalents.reasons and outcome != "killed" for mutant, outcome in zip(mutants, outcomes)]
        counts = [sum(outcome is not None for outcome in outcomes), outcomes.count("killed"),
                  sum(outcome == "survived" and not equal for outcome, equal in zip(outcomes, known)),
                  sum(outcome == "not reached" and not equal for outcome, equal in zip(outcomes, known)),
                  sum(equal and outcome is not None for outcome, equal in zip(outcomes, known))]
        totals = [a + b for a, b in zip(totals, counts)]
        rows.append(row(part, counts))
    rows.append(row("all", totals))
    return "\n".join(rows)


def row(name, counts):
    relevant = counts[0] - counts[4]
    score = "%.1f %%" % (100 * counts[1] / relevant) if relevant else ""
    return "| %s | %s | %s |" % (name, " | ".join(map(str, counts)), score)


def survivors(parts, results, equivalents, chosen_parts):
    lines = []
    for part, mutants in parts:
        for mutant in mutants if part in chosen_parts else []:
            result = results.get(mutant.key)
            if result and result["outcome"] != "killed":
                reason = equivalents.reasons.get(mutant.key)
                lines.append("#%d %s, line %d\n    %s%s" % (
                    mutant.id, result["outcome"], mutant.first + 1, mutant.key,
                    "\n    equivalent: " + reason if reason else ""))
    return "\n".join(lines)
