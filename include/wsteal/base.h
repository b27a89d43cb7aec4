/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * base.h: version, status codes and callback types of libwsteal.
 *
 * Included by every other header of the library; wsteal.h includes them all.
 */
#ifndef WSTEAL_BASE_H
#define WSTEAL_BASE_H

#include <stddef.h>
#include <stdint.h>

#define WS_VERSION_MAJOR 0
#define WS_VERSION_MINOR 1
#define WS_VERSION_PATCH 0
/** major * 1000000 + minor * 1000 + patch: grows with every release. */
#define WS_VERSION                                                             \
    (WS_VERSION_MAJOR * 1000000 + WS_VERSION_MINOR * 1000 + WS_VERSION_PATCH)

#if defined(_WIN32)
#error "libwsteal needs POSIX threads"
#elif defined(__GNUC__) || defined(__clang__)
#define WS_API __attribute__((visibility("default")))
#else
#define WS_API
#endif

#ifdef __cplusplus
#define WS_BEGIN_DECLS extern "C" {
#define WS_END_DECLS }
#else
#define WS_BEGIN_DECLS
#define WS_END_DECLS
#endif

WS_BEGIN_DECLS

/**
 * Status codes, one list: X(name, value, text).
 *
 * Calls that can fail by themselves return WS_OK or one of the negative codes.
 * Calls that run the user's callbacks return the callback's own code when it
 * is not 0; keep those positive and the two cannot be mixed up.
 */
#define WS_STATUS_LIST(X)                                                      \
    X(WS_OK, 0, "success")                                                     \
    X(WS_EINVAL, -1, "invalid argument")                                       \
    X(WS_ENOMEM, -2, "out of memory")                                          \
    X(WS_ETHREADS, -3, "the system refused to start a thread")                 \
    X(WS_EENV, -4, "WSTEAL_NUM_THREADS is not a number in range")              \
    X(WS_EINWORKER, -5, "not allowed from inside a worker of the pool")        \
    X(WS_EFORKED, -6, "the pool belongs to the parent of this process")        \
    X(WS_ECANCELED, -7, "canceled")                                            \
    X(WS_ETIMEDOUT, -8, "the deadline has passed")                             \
    X(WS_EEXIST, -9, "the global pool exists already")

/** The codes of WS_STATUS_LIST as constants. */
enum ws_status {
#define WS_STATUS_ENUM(name, value, text) name = value,
    WS_STATUS_LIST(WS_STATUS_ENUM)
#undef WS_STATUS_ENUM
    WS_STATUS_FORCE_INT = 0x7fffffff
};

/** A pool of worker threads. */
typedef struct ws_pool ws_pool;
/** A set of jobs that end before the call that opened it returns.  There is no
 * typedef: the name alone is the function ws_scope(), as with stat(2). */
struct ws_scope;

/** A job: returns 0, or the caller's own error code, which travels to the call
 * that waits for it.  Must return: leaving it by longjmp, pthread_exit or an
 * exception is not supported. */
typedef int (*ws_fn)(void *arg);
/** A job that may add jobs to the scope it runs in. */
typedef int (*ws_scope_fn)(struct ws_scope *scope, void *arg);

/** Releases the argument of a job that will never run. */
typedef void (*ws_drop_fn)(void *arg);

/** What a job of ws_join_context() learns about where it runs. */
typedef struct ws_ctx {
    /** Index of the worker that runs the job, as ws_current_index(). */
    int worker_index;
    /** 1 when another thread than the caller runs the job, else 0. */
    int migrated;
} ws_ctx;
/** A job that is told its ws_ctx; the pointer is valid during the call. */
typedef int (*ws_ctx_fn)(const ws_ctx *ctx, void *arg);

/** What a job of a broadcast learns. */
typedef struct ws_broadcast_ctx {
    /** Index of the worker that runs the job: 0 to num_workers - 1. */
    unsigned index;
    /** Workers of the pool: so often the job runs. */
    unsigned num_workers;
    /** The scope of ws_scope_spawn_broadcast(), else NULL. */
    struct ws_scope *scope;
} ws_broadcast_ctx;
/** A job that runs once on every worker; the pointer is valid during the call.
 */
typedef int (*ws_broadcast_fn)(const ws_broadcast_ctx *ctx, void *arg);

/**
 * The text of a status code, e.g. "out of memory"; "unknown status" for a
 * number that is none of them.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: nothing; the string is static.
 * Returns: never NULL.
 */
WS_API const char *ws_strerror(int status);

/**
 * The name of a status code, e.g. "WS_ENOMEM"; "WS_UNKNOWN" for a number that
 * is none of them.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: nothing; the string is static.
 * Returns: never NULL.
 */
WS_API const char *ws_err_name(int status);

/**
 * The version of the library that is linked, to compare with WS_VERSION of the
 * header that was compiled.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: nothing.
 * Returns: major * 1000000 + minor * 1000 + patch.
 */
WS_API int ws_version(void);

WS_END_DECLS

#endif
