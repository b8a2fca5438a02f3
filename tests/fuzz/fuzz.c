/* Joins a reader (readers.f90) to libFuzzer. READER in the environment names the one to fuzz.
 *
 * Coverage: gcc calls __sanitizer_cov_trace_pc (here wrapped) at every block of C and Fortran; each place counts in one
 * of the extra counters that libFuzzer watches. Comparisons are traced by libFuzzer itself
 * (-fsanitize-coverage=trace-cmp). */
#define _GNU_SOURCE
#include <fenv.h>
#include <ftw.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int fuzz_one(const char *reader, int nreader, const char *folder, int nfolder, const char *bytes, int n);

enum { COUNTER_BITS = 15, COUNTERS = 1 << COUNTER_BITS }; /* looked through after each input */
__attribute__((section("__libfuzzer_extra_counters"), used)) static unsigned char counter[COUNTERS];
extern char __executable_start;

__attribute__((no_sanitize_coverage, no_sanitize("address"), no_sanitize("undefined"))) void
__wrap___sanitizer_cov_trace_pc(void) {
    uint32_t at = (uint32_t)((char *)__builtin_return_address(0) - &__executable_start);
    counter[at * 2654435761u >> (32 - COUNTER_BITS)]++;
}

/* Comparisons of reals, which libFuzzer has no use for. */
void __sanitizer_cov_trace_cmpf(float a, float b) { (void)a, (void)b; }
void __sanitizer_cov_trace_cmpd(double a, double b) { (void)a, (void)b; }

/* A file may ask for more memory than there is: that is refused with a sentence, not by the sanitizer. */
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1:quarantine_size_mb=16:malloc_context_size=2";
}
/* Handles point behind the head of their memory (host_pool.c), which the search for leaks does not follow. */
const char *__lsan_default_suppressions(void) { return "leak:host_alloc\n"; }
const char *__ubsan_default_options(void) { return "print_stacktrace=1:abort_on_error=1"; }

static const char *reader;
static char folder[PATH_MAX];

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    remove(path);
    return 0;
}

static void remove_folder(void) { nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS); }

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    const char *place = getenv("TMPDIR");
    reader = getenv("READER");
    snprintf(folder, sizeof folder, "%s/spl-fuzz-XXXXXX", place ? place : access("/dev/shm", W_OK) ? "." : "/dev/shm");
    if (!reader || !mkdtemp(folder)) {
        fprintf(stderr, "fuzz: set READER to the name of a reader, and TMPDIR to a folder that can be written\n");
        exit(1);
    }
    atexit(remove_folder);
    feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW); /* as gfortran's main does with -ffpe-trap */
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    int outcome = fuzz_one(reader, (int)strlen(reader), folder, (int)strlen(folder), (const char *)bytes, (int)n);
    if (outcome < 0)
        abort();
    return 0;
}
