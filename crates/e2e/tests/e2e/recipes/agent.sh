#!/bin/sh
# An agent without a model: it follows a script, and answers as a coding agent does.
set -eu
prompt=$(cat)

commit() {
    git add --all
    git -c user.name=Agent -c user.email=agent@localhost commit --quiet --message "$1"
}

case $prompt in
*"Change nothing"* | *"Write one summary"*)
    text="I have read everything, and it is good."
    ;;
*"nightly checks failed"*)
    echo repaired > fixed.txt
    commit "Repair the checks"
    text="The checks pass again."
    ;;
*)
    echo "- a change of $$" >> CHANGELOG.md
    commit "Change something"
    text="I have changed it."
    ;;
esac
printf '{"kind":"said","text":"%s"}\n{"kind":"done","dollars":0.02}\n' "$text"
