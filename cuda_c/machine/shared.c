/* Memory that processes of a machine share, and flags in it: see interfaces/shared_c.f90. A memfd, which other
 * processes open by its number in /proc. A flag is a futex: who waits for it sleeps in the kernel, and is woken at
 * once. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "err.h"
#include "iface.h"

enum { SHARED_DATA = 4096, FLAGS = 1000, LOOKS = 200 /* at a flag before sleep: some microseconds */ };

/* The first page; what the caller may use follows. */
typedef struct shared_head {
    _Atomic int flag[FLAGS];
    long owner; /* process, */
    int file;   /* and the number of the file there */
} shared_head;

_Static_assert(sizeof(shared_head) <= SHARED_DATA, "the head of shared memory fills its page");

static void *map(int file, long bytes) {
    void *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void *refuse(int file, long bytes) {
    err_set("no memory of %ld bytes that processes can share: %s", bytes, strerror(errno));
    if (file >= 0)
        close(file);
    return NULL;
}

void *shared_new(long bytes, int length, char *path) {
    const int file = memfd_create("shared", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, bytes) != 0)
        return refuse(file, bytes);
    shared_head *head = map(file, bytes);
    if (head == NULL)
        return refuse(file, bytes);
    head->owner = getpid();
    head->file = file;
    snprintf(path, (size_t)length, "/proc/%ld/fd/%d", head->owner, file); /* there as long as the process has it open */
    return head;
}

void *shared_open(const char *path, long bytes) {
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return NULL;
    const off_t size = lseek(file, 0, SEEK_END);
    void *memory = size == bytes ? map(file, bytes) : NULL;
    close(file);
    return memory;
}

void shared_close(void *memory, long bytes) {
    shared_head *head = memory;
    if (head == NULL)
        return;
    const int file = head->owner == getpid() ? head->file : -1;
    munmap(memory, (size_t)bytes);
    if (file >= 0)
        close(file);
}

/* --- flags --------------------------------------------------------------------------------------------------- */

static long futex(_Atomic int *flag, int what, int value, const struct timespec *most) {
    return syscall(SYS_futex, flag, what, value, most, NULL, 0);
}

void shared_post(void *memory, int flag, int value) {
    shared_head *head = memory;
    atomic_store_explicit(&head->flag[flag], value, memory_order_release);
    futex(&head->flag[flag], FUTEX_WAKE, INT_MAX, NULL);
}

int shared_wait(void *memory, int flag, int value, double seconds) {
    shared_head *head = memory;
    const struct timespec most = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    for (int look = 0;; look++) {
        const int now = atomic_load_explicit(&head->flag[flag], memory_order_acquire);
        if (now == value)
            return 1;
        if (look >= LOOKS && futex(&head->flag[flag], FUTEX_WAIT, now, &most) != 0 && errno == ETIMEDOUT)
            return atomic_load_explicit(&head->flag[flag], memory_order_acquire) == value;
    }
}
