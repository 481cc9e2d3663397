#!/usr/bin/env python3
"""Stands for an agent that writes tests: reads the brief from standard input, works in the current folder."""

import importlib
import pathlib
import re
import subprocess
import sys

CASES = {"slug": ["", "Hello, world!", "  many   spaces "], "roman": [1, 4, 9, 40, 1994]}

# What others did before is told below; the task itself comes first.
brief = sys.stdin.read().split("\n## ")[0]
found = re.search(r"Write tests for (\w+)\.py", brief)
if found:
    name = found.group(1)
    sys.path.insert(0, ".")
    function = getattr(importlib.import_module(name), name)
    lines = [f"        self.assertEqual({name}({case!r}), {function(case)!r})" for case in CASES[name]]
    head = f"import unittest\n\nfrom {name} import {name}\n\n\nclass Test(unittest.TestCase):\n    def test_{name}(self):\n"
    target = pathlib.Path(f"tests/test_{name}.py")
    target.parent.mkdir(exist_ok=True)
    target.write_text(head + "\n".join(lines) + "\n")
else:
    target = pathlib.Path("TESTING.md")
    target.write_text("# Testing\n\nRun `python3 -m unittest discover tests` in this folder.\n")
who = ["-c", "user.name=agent", "-c", "user.email=agent@localhost"]
subprocess.run(["git", "add", str(target)], check=True)
subprocess.run(["git", *who, "commit", "-q", "-m", f"tests: {target.name}"], check=True)
print(f"Wrote {target}; it passes.")
