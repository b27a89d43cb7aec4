/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "scope.h"

static void sample(void)
{
    ws_scope_in(bench_pool, 0, flat_body, NULL);
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        flat_pool_setup, NULL,       sample,
        flat_check,      flat_units, bench_pool_teardown,
    };
    return bench_main(argc, argv, &program);
}
