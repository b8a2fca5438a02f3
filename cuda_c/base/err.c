#include "err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "iface.h"

static char sentence[10000]; /* two paths of the longest kind, and what is wrong with them */

int err_set(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return 1;
}

void *err_message(void) { return sentence; }

int err_message_length(void) { return (int)strlen(sentence); }
