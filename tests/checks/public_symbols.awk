# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Prints one line for each WS_API declaration of the headers given: the header,
# the name, the type it returns, and the comment in front of it, tab-separated
# and with white space folded.
function fold(text)
{
    gsub(/[ \t\n]+/, " ", text)
    return text
}
FNR == 1 {
    comment = ""
    declaration = ""
    in_comment = 0
}
# A macro's definition is no declaration.
/^[ \t]*#/ { continued = /\\$/; next }
continued { continued = /\\$/; next }
in_comment || /^[ \t]*\/\*/ {
    if (!in_comment) {
        comment = ""
    }
    line = $0
    sub(/^[ \t]*(\/\*+|\*+\/?)/, "", line)
    sub(/\*\/[ \t]*$/, "", line)
    comment = comment " " line
    in_comment = !/\*\//
    next
}
declaration != "" || /^WS_API / {
    line = $0
    gsub(/\/\*.*\*\//, "", line)
    declaration = declaration " " line
    if (line !~ /;/) {
        next
    }
    head = fold(declaration)
    sub(/^ ?WS_API /, "", head)
    sub(/ ?\(.*/, "", head)
    sub(/ ?;.*/, "", head)
    name = head
    sub(/.*[ *]/, "", name)
    type = substr(head, 1, length(head) - length(name))
    sub(/ $/, "", type)
    printf "%s\t%s\t%s\t%s\n", FILENAME, name, type, fold(comment)
    declaration = ""
    comment = ""
    next
}
# Anything else between a comment and a declaration breaks the bond.
NF { comment = "" }
