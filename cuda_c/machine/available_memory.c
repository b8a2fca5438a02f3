/* The memory of the machine under a rank, as far as this process may use it: interfaces/host_c.f90. */
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counts.h"
#include "iface.h"

typedef struct room {
    long total, available; /* bytes */
} room;

/* The number after `word` at the begin of a line of a file such as /proc/meminfo; -1 if there is none. */
static long number_after(const char *path, const char *word) {
    char line[512];
    long value = -1;
    const size_t n = strlen(word);
    FILE *f = fopen(path, "r");
    while (f && value < 0 && fgets(line, sizeof line, f))
        if (!strncmp(line, word, n))
            count_read(line + n, 0, LONG_MAX, NULL, &value);
    if (f)
        fclose(f);
    return value;
}

/* One control group, its files begun by `begin`: less room if it has a limit. File pages it can drop count as free. */
static void one_group(const char *begin, const char *limit, const char *usage, const char *dropable, room *r) {
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", begin, limit);
    const long long most = number_after(path, "");
    snprintf(path, sizeof path, "%s/%s", begin, usage);
    const long long used = number_after(path, "");
    snprintf(path, sizeof path, "%s/memory.stat", begin);
    const long long cache = number_after(path, dropable);
    if (most < 0 || most >= r->total) /* none ("max"), or so large that it means none */
        return;
    r->total = most;
    long long left = most - (used > 0 ? used : 0) + (cache > 0 ? cache : 0);
    left = left < 0 ? 0 : left > most ? most : left;
    r->available = left < r->available ? left : r->available;
}

/* A control group and all above it: each may hold the limit. */
static void groups_upwards(const char *mount, char *group, int version, room *r) {
    char begin[PATH_MAX + 32];
    for (;;) {
        snprintf(begin, sizeof begin, "%s%s", mount, group);
        if (version == 2)
            one_group(begin, "memory.max", "memory.current", "inactive_file", r);
        else
            one_group(begin, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file", r);
        char *slash = strrchr(group, '/');
        if (!slash)
            return;
        *slash = 0;
    }
}

/* Lines of /proc/self/cgroup read "0::/group" (version 2) and "4:memory:/group" (version 1). */
static void control_groups(const char *root, room *r) {
    char path[PATH_MAX], mount[PATH_MAX], line[PATH_MAX];
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = 0;
        names++;
        if (!*names) {
            snprintf(mount, sizeof mount, "%s/sys/fs/cgroup", root);
            groups_upwards(mount, group, 2, r);
        } else if (strstr(names, "memory")) {
            snprintf(mount, sizeof mount, "%s/sys/fs/cgroup/memory", root);
            groups_upwards(mount, group, 1, r);
        }
    }
    if (f)
        fclose(f);
}

void host_memory(const char *root, long *total, long *available) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    const long long all = number_after(path, "MemTotal:"), left = number_after(path, "MemAvailable:");
    room r = {0, 0};
    if (count_times(all, 1024, &r.total))
        r.total = 0;
    if (count_times(left, 1024, &r.available))
        r.available = 0;
    if (all > 0 && left >= 0)
        control_groups(root, &r);
    *total = r.total;
    *available = r.available;
}

/* The system clears each page that it gives: for traces of a few MB, asked for anew by each shot, that takes longer
 * than all copies of them. */
void host_keep_memory(void) {
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
}
