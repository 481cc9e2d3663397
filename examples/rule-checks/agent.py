#!/usr/bin/env python3
"""Stands for an agent that checks rules: reads the brief from standard input, works in the current folder."""

import json
import pathlib
import re
import subprocess
import sys


def breaks(rule, lines, number):
    line = lines[number]
    if rule == "no-print":
        return re.match(r"\s*print\(", line)
    if rule == "no-todo":
        return "TODO" in line
    return re.match(r"def [a-z]", line) and '"""' not in "".join(lines[number + 1 : number + 2])


# What others did before is told below; the task itself comes first.
brief = sys.stdin.read().split("\n## ")[0]
found = re.search(r"Check the rule ([\w-]+)", brief)
out = pathlib.Path("findings")
out.mkdir(exist_ok=True)
if found:
    rule, broken = found.group(1), []
    for file in sorted(pathlib.Path("src").glob("*.py")):
        lines = file.read_text().splitlines()
        broken += [{"file": str(file), "line": n + 1} for n in range(len(lines)) if breaks(rule, lines, n)]
    target = out / f"{rule}.json"
    target.write_text(json.dumps({"rule": rule, "broken": broken}, indent=2) + "\n")
else:
    rules = re.findall(r"(?m)^- `([\w-]+)`", pathlib.Path("RULES.md").read_text())
    target = out / "VERDICT.md"
    target.write_text("# Verdict\n\nEach of these rules was checked by one worker: " + ", ".join(rules) + ".\n")
who = ["-c", "user.name=agent", "-c", "user.email=agent@localhost"]
subprocess.run(["git", "add", str(target)], check=True)
subprocess.run(["git", *who, "commit", "-q", "-m", f"findings: {target.name}"], check=True)
print(f"Wrote {target}.")
