/* The one way C fails here: set one sentence with numbers in it, return 1 (or NULL), print nothing, never exit.
 *
 *   REQUIRE(L >= 1 && L <= 8, "half_length = %d, must be 1..8", L);   in a procedure that returns int
 *   TRY(fio_sync(f));                                                 pass a failure on
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the sentence (printf form) and returns 1. */
int err_set(const char *format, ...) __attribute__((format(printf, 1, 2)));

#ifdef __cplusplus
}
#endif

#define FAIL(...) return (err_set(__VA_ARGS__), 1) /* a visible 1: the compiler must see that this fails */
#define REQUIRE(ok, ...)                                                                                               \
    do {                                                                                                               \
        if (!(ok))                                                                                                     \
            FAIL(__VA_ARGS__);                                                                                         \
    } while (0)
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        if (call)                                                                                                      \
            return 1;                                                                                                  \
    } while (0)
