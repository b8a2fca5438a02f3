/* Memory that processes of a machine share, and flags in it: see interfaces/shared_c.f90. A memfd, which other
 * processes open by its number in /proc. Its size is sealed, so nobody reads behind its end, and a random number tells
 * it from what another machine, or another space of processes, has under the same name. A flag is a futex: who waits
 * for it sleeps in the kernel, and is woken at once. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "err.h"
#include "files.h"
#include "iface.h"

enum { SHARED_DATA = 4096, FLAGS = 1000, LOOKS = 200 /* at a flag before sleep: some microseconds */ };

enum { SIZE_SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };

#define NAME "shared" /* of all such files, in /proc */

/* The first page; what the caller may use follows. */
typedef struct shared_head {
    _Atomic int flag[FLAGS];
    long owner; /* process, */
    int file;   /* and the number of the file there */
    void *at;   /* where that process has it */
    unsigned long token;
} shared_head;

_Static_assert(sizeof(shared_head) <= SHARED_DATA, "the head of shared memory fills its page");

static void *map(int file, long bytes, int how) {
    void *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED | how, file, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void *refuse(int file, long bytes) {
    err_set("no memory of %ld bytes that processes can share: %s", bytes, strerror(errno));
    if (file >= 0)
        close(file);
    return NULL;
}

/* The system gives a memfd all that there is, and then kills other processes, for it is nobody's. */
static int too_much(long bytes) {
    long total, available;
    host_memory("", &total, &available);
    errno = ENOMEM;
    return total > 0 && bytes > available / 2;
}

/* Pages are taken here, where it can fail: once they are missing as they are written to, the process is killed. */
void *shared_new(long bytes, int length, char *path) {
    unsigned long token;
    file_limit_is_error();
    if (too_much(bytes))
        return refuse(-1, bytes);
    const int file = memfd_create(NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0 || fallocate(file, 0, 0, bytes) != 0 || fcntl(file, F_ADD_SEALS, SIZE_SEALS) != 0 ||
        getrandom(&token, sizeof token, 0) != (ssize_t)sizeof token)
        return refuse(file, bytes);
    shared_head *head = map(file, bytes, MAP_POPULATE);
    if (head == NULL)
        return refuse(file, bytes);
    head->owner = getpid();
    head->at = head;
    head->file = file;
    head->token = token;
    snprintf(path, (size_t)length, "/proc/%ld/fd/%d %016lx", head->owner, file, token); /* while the process lives */
    return head;
}

/* True of a file as shared_new makes them: another must not even be opened. */
static int is_shared(const char *path) {
    char target[32];
    const ssize_t n = readlink(path, target, sizeof target - 1);
    target[n < 0 ? 0 : n] = 0;
    return !strncmp(target, "/memfd:" NAME " ", sizeof "/memfd:" NAME);
}

void *shared_open(const char *path, long bytes) {
    char name[64];
    const size_t n = strcspn(path, " ");
    if (n >= sizeof name || path[n] == 0)
        return NULL;
    memcpy(name, path, n);
    name[n] = 0;
    const unsigned long token = strtoul(path + n + 1, NULL, 16);
    const int file = is_shared(name) ? open(name, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0)
        return NULL;
    const int sealed = (fcntl(file, F_GET_SEALS) & SIZE_SEALS) == SIZE_SEALS;
    shared_head *head = sealed && lseek(file, 0, SEEK_END) == bytes ? map(file, bytes, MAP_POPULATE) : NULL;
    close(file);
    if (head != NULL && head->token != token) {
        munmap(head, (size_t)bytes);
        head = NULL;
    }
    return head;
}

void shared_close(void *memory, long bytes) {
    shared_head *head = memory;
    if (head == NULL)
        return;
    const int file = head->owner == getpid() && head->at == memory ? head->file : -1;
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
