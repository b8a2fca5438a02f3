#include "err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "iface.h"

static char sentence[10000]; /* two paths of the longest kind, and what is wrong with them */

/* A sentence that ends with a full disk, whoever met it, says what to do. */
static void advise_room(void) {
    static const char cure[] = ": make room there, or write elsewhere";
    const int reasons[] = {ENOSPC, EDQUOT};
    const size_t n = strlen(sentence);
    for (int i = 0; i < 2; i++) {
        const char *reason = strerror(reasons[i]);
        const size_t m = strlen(reason);
        if (n >= m && n + sizeof cure <= sizeof sentence && !strcmp(sentence + n - m, reason))
            memcpy(sentence + n, cure, sizeof cure);
    }
}

int err_set(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    advise_room();
    return 1;
}

void *err_message(void) { return sentence; }

int err_message_length(void) { return (int)strlen(sentence); }
