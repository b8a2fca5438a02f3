/* Large gathers that go to the disk past the page cache (cuda_c/netcdf/fio_slots.c): the file has the bytes that were
 * put, wherever slots begin and whatever memory they come from, and nothing around them changes; what was synced is
 * there after the writer was killed; a file that may grow no longer gives a sentence. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "iface.h"

enum { SHOTS = 6, RECEIVERS = 1201, SAMPLES = 1013, TRACE = 4 * SAMPLES, SLOT = RECEIVERS * TRACE, PAGE = 4096 };

static const char path[] = "uncached.nc";
static unsigned long state;
static long total, begin; /* bytes of the file, and of what is before the first slot */
static char *expected;    /* (total) */

static unsigned random32(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33);
}

/* The slots are the file's end, and do not begin at a block of the disk. */
static void make(void) {
    struct stat st;
    void *f = fio_create(path);
    const long zero = 0, one = 1;
    claim_fine(fio_dim(f, "shot", SHOTS) || fio_dim(f, "receiver", RECEIVERS) || fio_dim(f, "sample", SAMPLES), "dims");
    claim_fine(fio_var(f, "first", "int", "") || fio_var(f, "pressure", "float", "shot receiver sample"), "variables");
    claim_fine(fio_enddef(f) || fio_put_longs(f, "first", &zero, &one, &one) || fio_close(f), "make");
    const long most = 1 << 20;
    char *head = calloc(1, most);
    int fd = open(path, O_RDWR);
    if (fd < 0 || !head || fstat(fd, &st))
        exit(1);
    /* the place of the last variable is the last number of the header, behind which `first` follows */
    const ssize_t n = pread(fd, head, most, 0);
    for (long at = 0; at + 16 < n; at++)
        if (!memcmp(head + at, "pressure", 8))
            begin = at;
    begin += 8 + 8 + 3 * 8 + 4 + 8 + 4 + 8; /* name, rank, dimensions, no attributes, type, size: now the place */
    long place = 0;
    for (int i = 0; i < 8; i++)
        place = place << 8 | (unsigned char)head[begin + i];
    begin = place;
    total = begin + (long)SHOTS * SLOT;
    expected = calloc(1, total);
    if (ftruncate(fd, total) || !expected || pread(fd, expected, total, 0) != total)
        exit(1);
    close(fd);
    free(head);
}

static void fill(char *bytes) {
    for (long i = 0; i < SLOT; i += 4) {
        unsigned u = random32();
        memcpy(bytes + i, &u, 4);
    }
}

/* Puts so many traces of a slot. */
static int put(void *f, long slot, long first, long n, const char *bytes) {
    const long start[3] = {slot, first, 0}, count[3] = {1, n, SAMPLES};
    return fio_put_sealed(f, "pressure", start, count, (const float *)(const void *)bytes);
}

/* The first byte of the file's first n that is not as expected, -1: there is none. */
static long wrong(long n) {
    char *found = malloc(n);
    long at = -1;
    int fd = open(path, O_RDONLY);
    if (!found || fd < 0 || pread(fd, found, n, 0) != n)
        return 0;
    if (memcmp(found, expected, n))
        for (at = 0; found[at] == expected[at];)
            at++;
    close(fd);
    free(found);
    return at;
}

/* True where the file system says how writes past the cache are to be aligned. */
static int can(void) {
#ifdef STATX_DIOALIGN
    struct statx s;
    return !statx(AT_FDCWD, path, 0, STATX_DIOALIGN, &s) && s.stx_mask & STATX_DIOALIGN && s.stx_dio_offset_align > 0;
#else
    return 0;
#endif
}

/* The part of a slot that the page cache has. */
static double cached(long slot) {
    const long from = (begin + slot * SLOT + PAGE - 1) / PAGE * PAGE, pages = SLOT / PAGE - 1;
    int fd = open(path, O_RDONLY);
    unsigned char *there = malloc(pages);
    long n = 0;
    void *map = mmap(NULL, pages * PAGE, PROT_READ, MAP_SHARED, fd, from);
    if (map == MAP_FAILED || !there || mincore(map, pages * PAGE, there))
        exit(1);
    for (long i = 0; i < pages; i++)
        n += there[i] & 1;
    munmap(map, pages * PAGE);
    close(fd);
    free(there);
    return (double)n / pages;
}

static void claim_bytes(char *memory) {
    void *f = fio_open(path, 1);
    for (int i = 0; i < 13; i++) {
        const long slot = i < 12 ? random32() % SHOTS : 1, n = RECEIVERS - random32() % 20,
                   first = random32() % (RECEIVERS + 1 - n);
        char *bytes = memory + 4 * (random32() % 2000);
        fill(bytes);
        claim_fine(put(f, slot, first, n, bytes), "put");
        memcpy(expected + begin + slot * SLOT + first * TRACE, bytes, n * TRACE);
    }
    claim_fine(fio_sync(f) || fio_close(f), "sync");
    if (can())
        claim(cached(1) < 0.1, "a slot put last: the page cache has %.0f %% of it (10)", 100 * cached(1));
    else
        printf("SKIP - this file system does not say how writes past the page cache are to be aligned\n");
    const long at = wrong(total);
    claim(at < 0, "13 puts from any place in memory, slots from byte %ld on: the first wrong byte is %ld (-1 = none)",
          begin, at);
}

/* A child puts half of the slots, syncs each and tells; then it writes to the others for ever, and is killed at it. */
static void claim_killed(char *memory) {
    enum { SAFE = SHOTS / 2 };
    int told[2], slots = 0;
    char slot;
    if (pipe(told))
        exit(1);
    for (long s = 0; s < SAFE; s++)
        fill(expected + begin + s * SLOT);
    pid_t pid = fork();
    if (pid == 0) {
        void *f = fio_open(path, 1);
        for (long s = 0; s < SAFE; s++)
            if (put(f, s, 0, RECEIVERS, expected + begin + s * SLOT) || fio_sync(f) ||
                (slot = (char)s, write(told[1], &slot, 1) != 1))
                _exit(1);
        for (fill(memory);;)
            for (long s = SAFE; s < SHOTS; s++)
                if (put(f, s, 0, RECEIVERS, memory + 4 * (random32() % 2000)))
                    _exit(1);
    }
    close(told[1]);
    while (slots < SAFE && read(told[0], &slot, 1) == 1)
        slots++;
    usleep(random32() % 50000);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    const long at = wrong(begin + (long)SAFE * SLOT);
    claim(slots == SAFE && at < 0, "killed while it wrote: of %d slots that were synced the first wrong byte is %ld",
          slots, at);
    close(told[0]);
    int fd = open(path, O_RDONLY);
    if (fd < 0 || pread(fd, expected, total, 0) != total)
        exit(1);
    close(fd);
}

static void claim_limit(char *memory) {
    struct rlimit old, limit;
    void *f = fio_open(path, 1);
    getrlimit(RLIMIT_FSIZE, &old);
    limit = old;
    limit.rlim_cur = begin + 4L * SLOT + SLOT / 2 + 77;
    setrlimit(RLIMIT_FSIZE, &limit);
    fill(memory);
    claim_fails(put(f, 4, 0, RECEIVERS, memory), "cannot write variable pressure", "a file that may grow no longer");
    setrlimit(RLIMIT_FSIZE, &old);
    memcpy(memory, expected + begin + 4L * SLOT, SLOT);
    claim_fine(put(f, 4, 0, RECEIVERS, memory), "once more");
    claim_fine(fio_close(f), "close");
    const long at = wrong(total);
    claim(at < 0, "and put again after that: the first wrong byte is %ld", at);
}

int main(void) {
    state = given_seed(NULL);
    printf("seed %lu\n", state);
    char *memory = malloc(SLOT + 8000);
    make();
    claim_bytes(memory);
    claim_killed(memory);
    claim_limit(memory);
    unlink(path);
    free(expected);
    free(memory);
    return check_failed;
}
