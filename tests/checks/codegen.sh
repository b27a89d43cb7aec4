#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# codegen.sh STATIC_LIBRARY FUNCTION...
#
# On x86-64 none of the functions holds a fence or an atomic read-modify-write:
# no lock prefix, no mfence, no xchg with memory (which locks by itself).  What
# they call out of line is the slow path and not looked at.
set -eu
library=$1
shift
OBJDUMP=${OBJDUMP:-objdump}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$OBJDUMP" -d --no-show-raw-insn "$library" > "$work/all"
if ! grep -q 'file format elf64-x86-64' "$work/all"; then
    echo "not x86-64"
    exit 77
fi
bad=0
for function in "$@"; do
    awk -v start="<$function>:" '
        $2 == start { on = 1; next }
        /^$/ || /^[0-9a-f]+ </ { on = 0 }
        on { print }' "$work/all" > "$work/body"
    if [ ! -s "$work/body" ]; then
        echo "$function: not in the library"
        bad=1
    elif grep -E '[[:space:]](lock|mfence|xchg.*\()' "$work/body"; then
        echo "  ^ $function holds a fence or a locked instruction"
        bad=1
    else
        echo "$function: $(wc -l < "$work/body") instructions"
    fi
done
exit "$bad"
