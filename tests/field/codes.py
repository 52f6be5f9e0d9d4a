"""What a run of idemspec says of a code: the conditions of a codes.tsv, held against a JSON report.

A clause is one of

    ID fails [unless-void]       the expectation fails (void counts as absent, too)
    STEP is A,B                  some answer to the step lies inside these meanings
    STEP is-not A,B              some answer lies outside of them
    ID shows /REGEX/             something was observed for the promise that matches
    headline /REGEX/             the report begins with something that matches

and a condition is `or` of `and` of clauses.
"""

import csv
import json
import re

from bench import OPERATION, Trouble

# The groups of meanings, as in scenario files.
GROUPS = {"success": {"executed", "replayed"}, "replayed": {"replayed", "replayed-failure"}}


class Undecided(Exception):
    """Nothing was shown either way; the text says why."""


class Case:
    """What run.json says of one case."""

    def __init__(self, report, name):
        self.name = name
        self.headlines = report["headlines"]
        scenario, _, case = name.partition("#")
        self.entry = next(
            (
                entry
                for entry in report["scenarios"]
                if entry["operation"] == OPERATION
                and entry["scenario"] == scenario
                and (entry.get("case") or "") == case
            ),
            None,
        )

    def checked(self):
        """The entry, if it ran as planned in at least one round."""
        if self.entry is None:
            raise Undecided(f"{self.name} did not run")
        if self.entry.get("skipped"):
            raise Undecided(f"{self.name} was skipped: {self.entry['skipped']}")
        if not self.entry["rounds"]:
            raise Undecided(f"{self.name} did not run: {'; '.join(self.entry['broken']) or 'no round'}")
        return self.entry

    def finding(self, id):
        for finding in self.checked()["findings"]:
            if finding["id"] == id:
                return finding
        raise Trouble(f"{self.name} has no expectation `{id}`")

    def fails(self, id, void_is_absent=False):
        finding = self.finding(id)
        if finding["verdict"] in ("pass", "fail"):
            return finding["verdict"] == "fail"
        if void_is_absent and finding["verdict"] == "skip" and finding["reason"].startswith("void:"):
            return False
        raise Undecided(told(finding))

    def shows(self, id, pattern):
        finding = self.finding(id)
        if not finding["observed"]:
            raise Undecided(told(finding))
        return any(re.search(pattern, seen["says"]) for seen in finding["observed"])

    def says(self, pattern):
        return any(re.search(pattern, headline) for headline in self.headlines)

    def answers(self, step):
        """The step's answers as sets of meanings: each round, each copy, the last attempt."""
        entry = self.checked()
        last = {}
        for number, round in enumerate(entry["rounds"]):
            for exchange in round["exchanges"]:
                if exchange["step"] == step:
                    place = (number, exchange["copy"])
                    if place not in last or exchange["attempt"] >= last[place]["attempt"]:
                        last[place] = exchange
        if not last:
            raise Undecided(f"{self.name}: `{step}` was never sent")
        return [set(exchange["outcome"]) for exchange in last.values()]

    def outcome(self, step, words, inside):
        """Whether some answer lies inside the set (or, not `inside`, outside of it)."""
        wanted = set().union(*(GROUPS.get(word, {word}) for word in words))
        answers = self.answers(step)
        if any(
            answer and (answer <= wanted if inside else not answer & wanted) for answer in answers
        ):
            return True
        # Its absence counts only where every answer is clear and the round was a sound one.
        broken = [why for round in self.entry["rounds"] for why in round["broken"]]
        broken = self.entry["broken"] + broken
        if broken:
            raise Undecided(f"{self.name}: {broken[0]}")
        if any(not answer or (answer & wanted and not answer <= wanted) for answer in answers):
            raise Undecided(f"{self.name}: `{step}` was {outcomes(answers)}, which may or may not be that")
        about = [finding for finding in self.entry["findings"] if step in finding["steps"]]
        if not any(finding["rounds"]["valid"] for finding in about):
            doubt = [finding for finding in about if finding["verdict"] == "inconclusive"]
            if doubt:
                raise Undecided(told(doubt[0]))
        return False

    def clause(self, text):
        match text.split(" ", 2):
            case ["headline", *pattern]:
                return self.says(" ".join(pattern).strip("/"))
            case [id, "fails"]:
                return self.fails(id)
            case [id, "fails", "unless-void"]:
                return self.fails(id, void_is_absent=True)
            case [step, ("is" | "is-not") as how, words]:
                return self.outcome(step, words.split(","), how == "is")
            case [id, "shows", pattern]:
                return self.shows(id, pattern.strip("/"))
        raise Trouble(f"cannot read `{text}`")

    def holds(self, condition):
        """`or` of `and` of clauses."""
        return any_holds(
            condition.split(" or "),
            lambda both: all(self.clause(clause) for clause in both.split(" and ")),
        )

    def account(self, condition):
        """The deciding findings and answers in words, for a disagreement."""
        if self.entry is None or self.entry.get("skipped"):
            return [f"{self.name}: {'skipped: ' + self.entry['skipped'] if self.entry else 'did not run'}"]
        lines = [f"{self.name}: {why}" for why in self.entry["broken"]]
        for clause in re.split(" or | and ", condition):
            if clause.startswith("headline "):
                lines += [f"headline: {headline}" for headline in self.headlines]
                continue
            subject, how = clause.split(" ")[:2]
            if how in ("fails", "shows"):
                found = [finding for finding in self.entry["findings"] if finding["id"] == subject]
            else:
                try:
                    lines.append(f"{self.name}: `{subject}` was {outcomes(self.answers(subject))}")
                except Undecided as why:
                    lines.append(str(why))
                found = [f for f in self.entry["findings"] if subject in f["steps"] and "outcome" in f["id"]]
            for finding in found:
                lines.append(told(finding))
        return list(dict.fromkeys(lines))


def told(finding):
    tally = finding["rounds"]
    rounds = f" [{tally['failed']} of {tally['ran']} rounds failed, {tally['valid']} valid]"
    return f"{finding['name']} {finding['verdict']}: {finding['reason']}{rounds}"


def outcomes(answers):
    counted = {}
    for answer in answers:
        words = " or ".join(sorted(answer)) or "not answered"
        counted[words] = counted.get(words, 0) + 1
    return ", ".join(f"{words} ×{times}" if times > 1 else words for words, times in counted.items())


def codes_table(path):
    """The rules for each code: pairs of a case and a condition."""
    with open(path, newline="") as file:
        table = {}
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            table.setdefault(row["code"], []).append((row["case"], row["found when"]))
        return table


def decide(rules, cases):
    """Whether the code was found; raises Undecided when that is open."""
    return any_holds(rules, lambda rule: cases[rule[0]].holds(rule[1]))


def any_holds(conditions, holds):
    """Whether one of them holds. That wins over an undecided one, which wins over those that do not."""
    doubt = None
    for condition in conditions:
        try:
            if holds(condition):
                return True
        except Undecided as why:
            doubt = doubt or why
    if doubt:
        raise doubt
    return False


def read(report, names):
    """The cases of a report."""
    whole = json.loads(report.read_text())
    return {name: Case(whole, name) for name in names}
