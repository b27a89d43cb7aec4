/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * fence.c: which of the two kinds of fences this process uses, and the
 * out-of-line halves of both.
 *
 * Any thread may call.  The mode is written once, by whichever thread asks
 * first, and never changes: two threads that ask at the same moment may both
 * try the kernel, but only one answer is kept, and both return that one.
 *
 * Layer: port.
 */
#include "port/fence.h"

#include <stdlib.h>
#include <string.h>

#include "port/platform.h"

#define ENV_FENCES "WSTEAL_FENCES"

enum {
    MODE_UNKNOWN = 0,
    MODE_SEQCST = 1,
    MODE_ASYMMETRIC = 2
};

static wsi_atomic_u32 chosen_mode;

static uint32_t choose_mode(void)
{
    const char *wish = getenv(ENV_FENCES);
    if (wish != NULL && strcmp(wish, "seqcst") == 0) {
        return MODE_SEQCST;
    }
    return wsi_port_ops.membarrier_available() ? MODE_ASYMMETRIC : MODE_SEQCST;
}

wsi_fences wsi_fences_mode(void)
{
    /* acquire: pairs with the release half of the CAS below, so that the
     * kernel knew of us before anyone relies on the asymmetric mode */
    uint32_t mode = wsi_u32_load_acquire(&chosen_mode);
    if (mode == MODE_UNKNOWN) {
        const uint32_t choice = choose_mode();
        /* acq_rel: publishes the registration to the load above; the loser
         * acquires the winner's */
        if (wsi_u32_cas_acq_rel(&chosen_mode, &mode, choice)) {
            mode = choice;
        }
    }
    return mode == MODE_ASYMMETRIC ? WSI_FENCES_ASYMMETRIC : WSI_FENCES_SEQCST;
}

bool wsi_fence_heavy(wsi_fences mode)
{
    if (mode == WSI_FENCES_ASYMMETRIC) {
        return wsi_port_ops.membarrier();
    }
    wsi_fence_full();
    return true;
}

void wsi_fence_light_seqcst(void)
{
    wsi_fence_full();
}
