#!/bin/sh
# convert.sh AMOUNT FROM TO: prints the amount in the other unit.
# convert.sh --list: prints all conversions.
# A line in units/*.txt is: FROM TO FACTOR OFFSET
set -eu
cd "$(dirname "$0")"
if [ "${1:-}" = --list ]; then
    cat units/*.txt | while read -r from to factor offset; do echo "$from to $to: times $factor, plus $offset"; done
    exit
fi
cat units/*.txt | awk -v amount="$1" -v from="$2" -v to="$3" '
    $1 == from && $2 == to { printf "%.2f\n", amount * $3 + $4; found = 1 }
    END { if (!found) exit 1 }'
