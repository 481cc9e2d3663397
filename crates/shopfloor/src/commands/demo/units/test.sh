#!/bin/sh
# Runs every line of tests/*.txt: AMOUNT FROM TO EXPECTED
set -eu
cd "$(dirname "$0")"
passed=0
for file in tests/*.txt; do
    while read -r amount from to expected; do
        got=$(sh convert.sh "$amount" "$from" "$to" || echo nothing)
        if [ "$got" != "$expected" ]; then
            echo "$file: $amount $from is $got $to, expected $expected"
            exit 1
        fi
        passed=$((passed + 1))
    done < "$file"
done
echo "$passed passed"
