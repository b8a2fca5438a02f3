/* Claims of C tests: one line a claim, "ok   - ..." or "FAIL - ...", and an exit status. As check.f90. */
#pragma once

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "iface.h"

static int check_failed;

/* `word` if there is one, else SEED of the environment, else one of the clock. */
static inline unsigned long given_seed(const char *word) {
    const char *given = word != NULL ? word : getenv("SEED");
    return given != NULL ? strtoul(given, NULL, 10) : (unsigned long)time(NULL) % 1000000;
}

/* Put the measured number and the bound in the sentence. */
__attribute__((format(printf, 2, 3))) static inline void claim(int ok, const char *format, ...) {
    va_list args;
    va_start(args, format);
    printf("%s", ok ? "ok   - " : "FAIL - ");
    vprintf(format, args);
    printf("\n");
    fflush(stdout);
    va_end(args);
    if (!ok)
        check_failed = 1;
}

/* Claims that a procedure went well. */
static inline void claim_fine(int rc, const char *what) {
    if (rc != 0)
        claim(0, "%s: %s", what, (char *)err_message());
}

/* Claims that a procedure failed and that its sentence contains `words`. */
static inline void claim_fails(int rc, const char *words, const char *what) {
    if (rc == 0)
        claim(0, "%s: no error", what);
    else
        claim(strstr(err_message(), words) != NULL, "%s: %s", what, (char *)err_message());
}
