/* Files beside a lock that a process left which was killed while it made or took a lock: see interfaces/lock_c.f90. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "iface.h"

enum { TOKEN = 16, LINE = 700 };

/* The length of the first word of the part of a name behind that of a lock, if it is one that lock.c gives, else 0. */
static size_t word_of_lock(const char *rest, int first) {
    static const char *const words[] = {".unreadable.dead", ".dead", ".old"};
    if (*rest == '.' && strspn(rest + 1, "0123456789abcdef") == TOKEN)
        return 1 + TOKEN;
    for (int i = 0; i < (first ? 1 : 3); i++)
        if (!strncmp(rest, words[i], strlen(words[i])))
            return strlen(words[i]);
    return 0;
}

/* True of .TOKEN, .TOKEN.dead, .TOKEN.old, and of the same behind a .TOKEN.dead, which is a lock itself. */
static int is_of_lock(const char *rest) {
    size_t n = word_of_lock(rest, 1);
    for (size_t more = n; more && rest[n]; n += more)
        more = word_of_lock(rest + n, 0);
    return n && !rest[n];
}

/* True if its owner is surely gone, or it is empty: a living owner in need of that one makes another. */
static int is_left(const char *path) {
    char text[LINE];
    struct stat st;
    if (lstat(path, &st) || !S_ISREG(st.st_mode))
        return 0;
    int n = lock_read(path, sizeof text, text);
    return n == 0 || (n > 0 && !strncmp(text, "lock 1 ", 7) && lock_alive(text) == 0);
}

void lock_sweep(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const size_t before = (size_t)(name - path), n = strlen(name);
    char *found = malloc(strlen(path) + sizeof((struct dirent *)0)->d_name + 1);
    if (!found)
        return;
    memcpy(found, path, before);
    strcpy(found + before, before ? "" : ".");
    DIR *folder = opendir(found);
    for (struct dirent *e = folder ? readdir(folder) : NULL; e; e = readdir(folder)) {
        strcpy(found + before, e->d_name);
        if (!strncmp(e->d_name, name, n) && is_of_lock(e->d_name + n) && is_left(found))
            unlink(found);
    }
    if (folder)
        closedir(folder);
    free(found);
}
