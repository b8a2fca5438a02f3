/* The cores of a process, also on a machine that has more of them than a cpu_set_t has room for: the system here says
 * what it is told to. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "check.h"
#include "iface.h"

static int machine, first, last; /* cores that it has, and those that the process may run on */

int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set) {
    if (pid != 0 || 8 * bytes < (size_t)machine) {
        errno = EINVAL;
        return -1;
    }
    memset(set, 0, bytes);
    for (int i = first; i <= last; i++)
        CPU_SET_S(i, bytes, set);
    return 0;
}

static long hash_of(int on, int from, int to) {
    machine = on, first = from, last = to;
    return host_cores_hash();
}

static int cores_of(int on, int from, int to) {
    machine = on, first = from, last = to;
    return host_cores();
}

int main(void) {
    int n = cores_of(64, 8, 15);
    claim(n == 8, "cores 8 to 15 of 64: %d, must be 8", n);
    n = cores_of(1792, 0, 1791);
    claim(n == 1792, "all of 1792 cores: %d", n);
    n = cores_of(4096, 1500, 1547);
    claim(n == 48, "cores 1500 to 1547 of 4096: %d, must be 48", n);
    claim(hash_of(4096, 1500, 1547) != hash_of(4096, 1548, 1595), "as many others are told from them");
    claim(hash_of(4096, 1500, 1547) == hash_of(4096, 1500, 1547), "the same ones are not");
    n = cores_of(1 << 30, 0, 0);
    claim(n == 1, "where the system does not tell: %d, must be 1", n);
    return check_failed;
}
