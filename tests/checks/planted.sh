#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# planted.sh SOURCE_DIR C_COMPILER
#
# Every check must find what it is for: a fault is planted in a copy of the
# tree, and the check has to fail and to name it.  A check that has gone blind
# fails here.
set -eu
export LC_ALL=C
source_dir=$1
compiler=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
count=0
tree=$work/tree

# A small tree with one file of each kind.  Its names exist nowhere else.
fresh()
{
    rm -rf "$tree"
    for dir in include/wsteal src/port src/queue src/api src/par tests/checks \
        examples bench .ci; do
        mkdir -p "$tree/$dir"
    done
    cp "$source_dir/tests/checks/public_symbols.awk" "$tree/tests/checks"
    cp "$source_dir/.clang-format" "$tree"
    spdx='SPDX-License-Identifier: MIT OR Apache-2.0'
    echo "# $spdx" > "$tree/CMakeLists.txt"
    echo "/* $spdx */" | tee "$tree/src/port/atomic.h" "$tree/src/port/a.h" \
        "$tree/src/queue/b.h" "$tree/src/queue/b.c" "$tree/src/api/c.h" \
        "$tree/src/api/d.h" "$tree/src/api/d.c" "$tree/src/par/e.c" \
        "$tree/tests/test_b.c" "$tree/examples/f.c" > /dev/null
    echo '#include "port/a.h"' >> "$tree/src/queue/b.c"
    cat > "$tree/include/wsteal.h" << 'END'
/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * @code
 * int main(void)
 * {
 *     return 0;
 * }
 * @endcode
 */
#define WS_API __attribute__((visibility("default")))
/**
 * Thread, Blocks, May run other jobs, May allocate, Owns: no.
 * Returns: 0.
 */
WS_API int ws_one(void);
END
    sed 's/ws_one/ws_two/' "$tree/include/wsteal.h" \
        > "$tree/include/wsteal/two.h"
    printf 'ws_one\nws_two\n' > "$tree/tests/checks/symbols.txt"
    printf '## 0.1.0\n' > "$tree/CHANGELOG.md"
    # shellcheck disable=SC2016
    printf '```c\nint main(void)\n{\n    return 0;\n}\n```\n' \
        > "$tree/README.md"
    cat > "$tree/lib.c" << 'END'
#define API __attribute__((visibility("default")))
API int ws_one(void);
API int ws_two(void);
int wsi_three(void);
int ws_one(void) { return 1; }
int ws_two(void) { return 2; }
int wsi_three(void) { return 3; }
END
}

# The library of the tree, with more C text appended.
library()
{
    [ "$#" -eq 0 ] || echo "$1" >> "$tree/lib.c"
    "$compiler" -O1 -fPIC -fvisibility=hidden -c -o "$tree/lib.o" "$tree/lib.c"
    "$compiler" -shared -o "$tree/lib.so" "$tree/lib.o"
    rm -f "$tree/lib.a"
    ar rc "$tree/lib.a" "$tree/lib.o"
}

# run CHECK ARGUMENT...
run()
{
    script=$1
    shift
    status=0
    sh "$source_dir/tests/checks/$script.sh" "$@" > "$work/out" 2>&1 ||
        status=$?
}

clean()
{
    run "$@"
    count=$((count + 1))
    if [ "$status" -ne 0 ] && [ "$status" -ne 77 ]; then
        echo "$1 fails without a fault:"
        cat "$work/out"
        bad=1
    fi
}

# caught PATTERN CHECK ARGUMENT...: it fails, and says so.
caught()
{
    pattern=$1
    shift
    run "$@"
    count=$((count + 1))
    if [ "$status" -eq 77 ]; then
        echo "$1: skipped here"
    elif [ "$status" -eq 0 ] || ! grep -q -e "$pattern" "$work/out"; then
        echo "$1 does not report: $pattern"
        cat "$work/out"
        bad=1
    fi
    fresh
}

# plant FILE LINE
plant()
{
    printf '%s\n' "$2" >> "$tree/$1"
}

fresh
clean layers "$tree"
plant src/queue/b.h '#include "api/c.h"'
caught 'runs upward' layers "$tree"
plant src/api/d.c '#include "api/c.h"'
caught 'api files' layers "$tree"
plant src/par/e.c '#include "port/a.h"'
caught 'public API' layers "$tree"
plant src/api/d.c '#include "b.h"'
caught 'name the layer' layers "$tree"
plant src/queue/b.c '#include "port/gone.h"'
caught 'no such file' layers "$tree"
plant examples/f.c '#include "queue/b.h"'
caught 'public headers only' layers "$tree"
plant include/wsteal.h '#include "wsteal/two.h"'
caught 'public headers use' layers "$tree"
cp "$tree/src/queue/b.c" "$tree/src/api/b.c"
caught 'more than one file is named b.c' layers "$tree"

clean style "$tree"
yes '' | head -n 500 >> "$tree/src/queue/b.c"
caught 'at most 500 lines' style "$tree"
echo > "$tree/src/queue/b.c"
caught 'SPDX' style "$tree"
plant src/queue/b.c "/* $(printf '%078d' 0) */"
caught '80 columns' style "$tree"
plant src/queue/b.c '#include <stdatomic.h>'
caught 'stdatomic' style "$tree"
plant include/wsteal.h 'extern _Atomic int x;'
caught '_Atomic' style "$tree"
for call in 'exit(1)' 'abort()' 'fprintf(stderr, "")' 'printf("")' \
    'perror("")'; do
    plant src/api/d.c "    $call;"
    caught 'nor prints' style "$tree"
done
plant tests/test_b.c '    usleep(1);'
caught 'no sleep' style "$tree"
plant src/queue/b.c '/* too far away */




    x = wsi_u64_load_acquire(&a);'
caught 'pairs with' style "$tree"
plant src/queue/b.c '

    wsi_ptr_cas_acq_rel(&a,
                        &b, c);
    /* too late */'
caught 'pairs with' style "$tree"
# What these rules must not take for a fault.
plant src/queue/b.c '/* exit() and printf() in a comment */



/* acquire: pairs with the release in g() */
    x = wsi_u64_load_acquire(&a);


    wsi_u64_store_release(&a,
                          x); /* release: pairs with f() */
    snprintf(text, size, "abort()");
    pool->exit(1);'
clean style "$tree"
fresh

clean format "$tree"
plant src/queue/b.c 'int  x ;'
caught 'clang-format' format "$tree"

clean header_tags "$tree"
sed 's/May allocate, //' "$tree/include/wsteal/two.h" > "$tree/include/wsteal.h"
caught 'ws_two: no "May allocate:"' header_tags "$tree"
sed 's/Returns/Gives/' "$tree/include/wsteal/two.h" > "$tree/include/wsteal.h"
caught 'ws_two: no "Returns:"' header_tags "$tree"
plant include/wsteal.h 'WS_API void
ws_bare(int a,
        int b);'
caught 'ws_bare: no "Thread:"' header_tags "$tree"

library
clean symbols "$tree" "$tree/lib.so" "$tree/lib.a"
plant include/wsteal.h 'WS_API int ws_new(void);'
library
caught '> ws_new' symbols "$tree" "$tree/lib.so" "$tree/lib.a"
library 'API int wsi_leak(void); int wsi_leak(void) { return 0; }'
caught '> wsi_leak' symbols "$tree" "$tree/lib.so" "$tree/lib.a"
library 'int helper(void); int helper(void) { return 0; }'
caught '^helper' symbols "$tree" "$tree/lib.so" "$tree/lib.a"
library 'int ws_inner(void); int ws_inner(void) { return 0; }'
caught '> ws_inner' symbols "$tree" "$tree/lib.so" "$tree/lib.a"

library
clean codegen "$tree/lib.a" ws_one wsi_three
caught 'not in the library' codegen "$tree/lib.a" ws_gone
for body in '__atomic_thread_fence(5); return *p;' \
    'return __atomic_fetch_add(p, 2, 5);' \
    'return __atomic_exchange_n(p, 2, 5);'; do
    library "int wsi_slow(int *p); int wsi_slow(int *p) { $body }"
    caught 'wsi_slow holds' codegen "$tree/lib.a" wsi_slow
done

library
clean snippets "$tree" "$tree/lib.a" "$compiler"
# shellcheck disable=SC2016
printf '```c\nint main(void)\n{\n    return gone();\n}\n```\n' \
    >> "$tree/README.md"
library
caught 'gone' snippets "$tree" "$tree/lib.a" "$compiler"
library
sed 's/return 0/return 1/' "$tree/include/wsteal/two.h" > "$tree/include/wsteal.h"
caught 'wsteal.h.1.c' snippets "$tree" "$tree/lib.a" "$compiler"
library
echo > "$tree/README.md"
caught 'README: no program' snippets "$tree" "$tree/lib.a" "$compiler"

clean changelog "$tree" 0.1.0
caught 'version 0.2.0' changelog "$tree" 0.2.0

[ "$bad" -eq 0 ] && echo "$count runs"
exit "$bad"
