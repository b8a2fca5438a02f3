/* Entries in the user's cache folder; see interfaces/tuning_cache_c.f90. An entry is one line, written by one call at
 * the end of the file, so that processes that write at the same time do not mix their lines. A line without an end is
 * not read, and the next entry begins a line of its own. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "err.h"
#include "iface.h"

enum { LINE = 512, LARGEST = 1 << 20 }; /* characters of an entry, and of all: beyond, nothing is added any more */

static int find_file(const char *subject, int make, char path[PATH_MAX]) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const int given = cache != NULL && cache[0] == '/';
    REQUIRE(given || (home != NULL && home[0] == '/'),
            "there is no cache folder: neither XDG_CACHE_HOME nor HOME is set");
    const int n = given ? snprintf(path, PATH_MAX, "%s", cache) : snprintf(path, PATH_MAX, "%s/.cache", home);
    REQUIRE(n > 0 && n < PATH_MAX - 64, "the path of the cache folder is too long");
    if (make)
        mkdir(path, 0700); /* most often it is there */
    const int all = snprintf(path + n, (size_t)(PATH_MAX - n), "/SplFd2dmod-%s", subject);
    REQUIRE(all > 0 && all < PATH_MAX - n, "the path of the cache is too long");
    return 0;
}

int tuning_cache_path(const char *subject, int n, char *path) {
    char whole[PATH_MAX];
    TRY(find_file(subject, 0, whole));
    REQUIRE(strlen(whole) < (size_t)n, "the path of the cache is too long");
    strcpy(path, whole);
    return 0;
}

/* The text after `key = ` in a line, null if it is another's. */
static char *text_of(char *line, const char *key) {
    const size_t n = strlen(key);
    return strncmp(line, key, n) == 0 && strncmp(line + n, " = ", 3) == 0 ? line + n + 3 : NULL;
}

int tuning_cache_find(const char *subject, const char *key, int length, char *text) {
    char path[PATH_MAX], line[LINE];
    int found = 0;
    REQUIRE(length >= 1, "a text of %d characters, must be at least 1", length);
    TRY(find_file(subject, 0, path));
    FILE *f = fopen(path, "re");
    REQUIRE(f != NULL, "nothing is noted: %s", strerror(errno));
    for (long read = 0; read < LARGEST && fgets(line, sizeof line, f) != NULL; read += (long)strlen(line)) {
        char *end = strchr(line, '\n'), *value = text_of(line, key);
        if (end == NULL || value == NULL || end - value >= length)
            continue;
        *end = 0;
        memcpy(text, value, strlen(value) + 1);
        found = 1;
    }
    fclose(f);
    REQUIRE(found, "nothing is noted for %.80s", key);
    return 0;
}

static int append(int file, const char *key, const char *text) {
    char line[LINE], last = '\n';
    struct stat s;
    REQUIRE(fstat(file, &s) == 0 && S_ISREG(s.st_mode) && s.st_size < LARGEST, "there is no room for more entries");
    ssize_t head = pread(file, line, sizeof line - 1, 0);
    line[head > 0 ? head : 0] = 0;
    line[strcspn(line, "\n")] = 0;
    REQUIRE(head == 0 || strstr(line, " = ") != NULL,
            "the cache does not begin with an entry: the file is somebody else's");
    if (s.st_size > 0)
        REQUIRE(pread(file, &last, 1, s.st_size - 1) == 1, "entries cannot be read");
    const int n = snprintf(line, sizeof line, "%s%s = %s\n", last == '\n' ? "" : "\n", key, text);
    REQUIRE(n > 0 && n < LINE, "an entry of %d characters, at most %d are possible", n, LINE - 1);
    REQUIRE(write(file, line, (size_t)n) == n, "an entry cannot be written: %s", strerror(errno));
    return 0;
}

int tuning_cache_add(const char *subject, const char *key, const char *text) {
    char path[PATH_MAX];
    REQUIRE(strpbrk(key, "=\n") == NULL && strpbrk(text, "=\n") == NULL, "an entry has no = and is one line");
    TRY(find_file(subject, 1, path));
    const int file = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    REQUIRE(file >= 0, "entries cannot be written: %s", strerror(errno));
    const int rc = append(file, key, text);
    close(file);
    return rc;
}
