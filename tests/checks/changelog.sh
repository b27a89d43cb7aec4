#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# changelog.sh SOURCE_DIR VERSION
#
# The version being built has an entry in CHANGELOG.md, and it is the newest.
set -eu
newest=$(sed -n 's/^## \[\{0,1\}\([0-9][0-9.]*\).*/\1/p' "$1/CHANGELOG.md" |
    head -n 1)
if [ "$newest" != "$2" ]; then
    echo "version $2, but the newest entry of CHANGELOG.md is '$newest'"
    exit 1
fi
echo "CHANGELOG.md describes $newest"
