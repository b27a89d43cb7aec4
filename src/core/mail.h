/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * mail.h: a list to which any thread posts and from which one takes, oldest
 * first.
 *
 * Posters push onto a stack; the taker empties it with one exchange and turns
 * it round, so no letter is ever popped by a compare-and-swap: there is no ABA.
 *
 * Who posts to a thread that may block wakes it afterwards (sleep.h).
 *
 * Layer: core.
 */
#ifndef WSI_CORE_MAIL_H
#define WSI_CORE_MAIL_H

#include <stdbool.h>
#include <stddef.h>

#include "core/job.h"
#include "port/atomic.h"

typedef struct wsi_letter wsi_letter;

struct wsi_letter {
    wsi_job job;
    wsi_letter *next;
};

typedef struct {
    wsi_atomic_ptr posted; /* newest first */
    wsi_letter *ready;     /* the taker's, oldest first */
} wsi_mail;

static inline void wsi_mail_init(wsi_mail *mail)
{
    wsi_ptr_init(&mail->posted, NULL);
    mail->ready = NULL;
}

static inline void wsi_mail_post(wsi_mail *mail, wsi_letter *letter)
{
    /* relaxed: checked by the CAS */
    void *newest = wsi_ptr_load_relaxed(&mail->posted);
    do {
        letter->next = newest;
        /* release: pairs with the exchange in wsi_mail_take() */
    } while (!wsi_ptr_cas_acq_rel(&mail->posted, &newest, letter));
}

/* Whether there is a letter; the taker asks. */
static inline bool wsi_mail_any(const wsi_mail *mail)
{
    /* relaxed: a hint; before blocking, ordered by the fence of the sleeper */
    return mail->ready != NULL || wsi_ptr_load_relaxed(&mail->posted) != NULL;
}

/* The oldest letter, or NULL; the taker asks. */
static inline wsi_letter *wsi_mail_take(wsi_mail *mail)
{
    if (!wsi_mail_any(mail)) {
        return NULL;
    }
    if (mail->ready == NULL) {
        /* acquire: pairs with the CAS in wsi_mail_post() */
        wsi_letter *newest = wsi_ptr_exchange_acq_rel(&mail->posted, NULL);
        while (newest != NULL) {
            wsi_letter *next = newest->next;
            newest->next = mail->ready;
            mail->ready = newest;
            newest = next;
        }
    }
    wsi_letter *letter = mail->ready;
    mail->ready = letter->next;
    return letter;
}

#endif
