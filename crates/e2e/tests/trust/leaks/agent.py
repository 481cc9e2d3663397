"""An agent that tells everything that it knows, in every way there is."""
import json
import os
import sys
import time

mode, runner_token, said = sys.argv[1], sys.argv[2], sys.argv[3]
secrets = [os.environ[name] for name in sorted(os.environ) if name.startswith("CANARY_")]
secrets.append(os.environ["HTTPS_PROXY"])
with open(os.environ["SHOPFLOOR_TOKEN_FILE"]) as file:
    secrets.append(file.read())
with open(runner_token) as file:
    secrets.append(file.read())


def write(text):
    os.write(1, text.encode())


def line(kind, text):
    return json.dumps({"kind": kind, "text": text}, ensure_ascii=kind == "ascii") + "\n"


if mode == "lines":
    sys.stdin.read()
    write(line("said", "MARK-in-lines"))
    for secret in secrets:
        for kind in ("begun", "model", "waiting", "ascii", "said"):
            write(line(kind, "x " + secret + " y"))
        os.write(2, ("error: " + secret + "\n").encode())
    write(line("fault", "it failed with " + secrets[0] + " and " + secrets[17]))
    write(line("said", "MARK-said-last " + " ".join(secrets)))
    sys.exit(0)

with open(os.path.join(said, "log.jsonl"), "w") as log:
    log.write(json.dumps({"kind": "meta", "cwd": os.getcwd()}) + "\n")
    for secret in secrets:
        log.write(line("begun", secret) + line("model", secret) + line("said", secret) + line("fault", secret))
# A full stop: a mark that ends as a secret begins would be recorded in two pieces.
write("MARK-on-screen.\n")
for number, secret in enumerate(secrets):
    write("whole " + secret + "\n")
    middle = len(secret) // 2
    for part in ("halves ", secret[:middle], secret[middle:], "\n"):
        write(part)
        if number % 8 == 0:
            time.sleep(0.03)
    for letter in "letters " + secret[:200] + "\n":
        write(letter)
    write("\033[1;31m" + secret + "\033[0m\033[K\n")
    write("\033]0;title " + secret + "\007\033]2;" + secret + "\033\\")
    write("json " + json.dumps({"key": secret}, ensure_ascii=False) + "\n")
    write("next to" + secret + secret + "each other\n")
write("waits for " + secrets[0] + "?\n")
typed = sys.stdin.readline()
write("typed " + typed)
with open(os.path.join(said, "log.jsonl"), "a") as log:
    log.write(line("model", "MARK-in-log"))
sys.stdin.readline()
os.write(2, b"MARK-on-errors.\n")
raise SystemExit("failed with " + secrets[1] + " " + secrets[17])
