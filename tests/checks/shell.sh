#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# shell.sh SOURCE_DIR
#
# The linter shellcheck has nothing to say about our scripts; skipped (77)
# where it is not installed.
set -eu
cd "$1"
if ! command -v shellcheck > /dev/null; then
    echo "no shellcheck"
    exit 77
fi
shellcheck .ci/run .ci/deep .ci/coverage .ci/cross/run.sh
find tests examples bench -name '*.sh' -exec shellcheck {} +
