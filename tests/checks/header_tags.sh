#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# header_tags.sh SOURCE_DIR
#
# The comment of each public function says what a caller must know.  Tags that
# share a text can be listed: "Thread, Blocks, Owns: as ws_join()."
set -eu
export LC_ALL=C
cd "$1"
awk -f tests/checks/public_symbols.awk include/*.h include/wsteal/*.h |
    awk -F '\t' '
        function need(tag) {
            if ($4 !~ ("(^|[ ,.])" tag "(, [A-Z][A-Za-z ]*)*:")) {
                print $1 ": " $2 ": no \"" tag ":\""
                bad = 1
            }
        }
        {
            count++
            need("Thread")
            need("Blocks")
            need("May run other jobs")
            need("May allocate")
            need("Owns")
            if ($3 != "void") {
                need("Returns")
            }
        }
        END {
            if (count == 0) {
                print "no declarations found"
                exit 1
            }
            print count " declarations"
            exit bad
        }'
