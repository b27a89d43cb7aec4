/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * status.c: names and texts of the status codes, from the one list.
 *
 * Layer: api.
 */
#include <wsteal/base.h>

const char *ws_strerror(int status)
{
    switch (status) {
#define TEXT(name, value, text)                                                \
    case value:                                                                \
        return text;
        WS_STATUS_LIST(TEXT)
#undef TEXT
    default:
        return "unknown status";
    }
}

const char *ws_err_name(int status)
{
    switch (status) {
#define NAME(name, value, text)                                                \
    case value:                                                                \
        return #name;
        WS_STATUS_LIST(NAME)
#undef NAME
    default:
        return "WS_UNKNOWN";
    }
}

int ws_version(void)
{
    return WS_VERSION;
}
