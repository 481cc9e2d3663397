#!/bin/sh
# The agent of the demo: it follows a script, and has no model and no network.
# It is started as a command, with the program that it asks people with.
set -euf
shopfloor=${1:-shopfloor}
brief=
if [ -n "${SHOPFLOOR_BRIEF_FILE:-}" ]; then
    brief=$(cat "$SHOPFLOOR_BRIEF_FILE")
fi
title=$(printf '%s\n' "$brief" | sed -n 3p)

slowly() {
    for word in $1; do
        printf '%s ' "$word"
        sleep 0.03
    done
    printf '\n'
}

say() {
    printf '\033[36m●\033[0m '
    slowly "$1"
}

run() {
    printf '\033[2m$ %s\033[0m\n' "$*"
    "$@"
    printf '\n'
}

# Writes a file of one line, and shows it as a change.
write() {
    printf '\033[1m%s\033[0m\n' "$1"
    printf '\033[32m+ '
    slowly "$2"
    printf '\033[0m\n'
    mkdir -p "$(dirname "$1")"
    printf '%s\n' "$2" >> "$1"
}

commit() {
    run sh test.sh
    git add --all
    run git -c user.name='Demo agent' -c user.email=demo@localhost commit --quiet --message "$1"
    say "Done: $1."
}

unit() {
    say "I read convert.sh: each line of a file in units/ is one conversion."
    say "$1"
    write "units/$2.txt" "$3"
    write "tests/$2.txt" "$4"
    commit "$5"
}

case $title in
*kilometres*)
    unit "One mile is 1.609344 km, so one kilometre is 0.621371 miles." \
        length "km mi 0.621371 0" "10 km mi 6.21" "Convert kilometres to miles"
    ;;
*kilograms*)
    unit "One pound is 0.45359237 kg, so one kilogram is 2.204623 pounds." \
        weight "kg lb 2.204623 0" "10 kg lb 22.05" "Convert kilograms to pounds"
    ;;
*Celsius*)
    unit "This one needs an offset: Fahrenheit is Celsius times 1.8, plus 32." \
        temperature "C F 1.8 32" "100 C F 212.00" "Convert Celsius to Fahrenheit"
    ;;
*README*)
    say "The three conversions are in. I list them for people who read the README."
    run sh convert.sh --list
    {
        printf '\n## Conversions\n\n'
        sh convert.sh --list | sed 's/^/- /'
    } >> README.md
    run git diff --stat
    commit "List all conversions in the README"
    ;;
*cups*)
    case $brief in
    *"US cup: 237 ml"*)
        unit "You chose the US cup, which is 236.588 ml." \
            volume "cup ml 236.588 0" "2 cup ml 473.18" "Convert cups to millilitres"
        ;;
    *"Metric cup: 250 ml"*)
        unit "You chose the metric cup, which is 250 ml." \
            volume "cup ml 250 0" "2 cup ml 500.00" "Convert cups to millilitres"
        ;;
    *)
        say "There are two cups, and a recipe goes wrong with the wrong one. I ask."
        run "$shopfloor" task ask "$SHOPFLOOR_TASK" "Which cup is meant?" --option "US cup: 237 ml" --option "Metric cup: 250 ml" \
            --context "Both are in use. A recipe for four is off by half an egg." --give-up
        ;;
    esac
    ;;
*recipe*)
    say "A recipe is a few lines with an amount and a unit each."
    write "recipes/pancakes.txt" "2 cup ml"
    run sh convert.sh 2 cup ml
    commit "Convert a whole recipe"
    ;;
*)
    say "I look at the repository and say what I see."
    run git log --oneline --max-count=5
    run sh test.sh
    say "All conversions give what their tests expect."
    ;;
esac
