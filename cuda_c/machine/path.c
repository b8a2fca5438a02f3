/* Questions about files that Fortran's inquire cannot answer: kind, permission, identity. */
#define _GNU_SOURCE
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

int path_input(const char *path) {
    struct stat s;
    if (stat(path, &s)) {
        if (errno == ENOENT)
            FAIL("there is no such file");
        FAIL("the system says %s", strerror(errno));
    }
    REQUIRE(!S_ISDIR(s.st_mode), "this is a directory, not a file");
    REQUIRE(S_ISREG(s.st_mode), "this is a pipe or a device, not a file on disk");
    REQUIRE(access(path, R_OK) == 0, "it may not be read (%s)", strerror(errno));
    REQUIRE(s.st_size > 0, "the file is empty");
    return 0;
}

/* The answers of path_kind, as in path_c.f90. */
enum { PATH_NOTHING, PATH_FILE, PATH_FILE_BY_LINK, PATH_FOLDER, PATH_LOOSE_LINK, PATH_OTHER, PATH_HIDDEN };

enum { BESIDE = 40 }; /* characters that the files beside an output have more in their names, at most */

/* The last name of a path that is not too long; `folder` gets what stands before it, "." if nothing does. */
static const char *split(const char *path, char folder[PATH_MAX]) {
    const char *slash = strrchr(path, '/');
    const size_t n = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
    memcpy(folder, path, n);
    folder[n] = 0;
    if (n == 0)
        strcpy(folder, ".");
    return slash == NULL ? path : slash + 1;
}

/* Makes a file in the folder of `path` and removes it. 0, or the reason why not: access() says of /proc and of some
 * network file systems that anything may be written. A file without a name, where these are known, leaves nothing to be
 * seen. */
static int not_writable(const char *folder, const char *path) {
    char beside[PATH_MAX];
    int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0) {
        snprintf(beside, sizeof beside, "%s.XXXXXX", path);
        fd = mkostemp(beside, O_CLOEXEC);
        if (fd < 0)
            return errno;
        unlink(beside);
    }
    close(fd);
    return 0;
}

int path_output(const char *path) {
    char folder[PATH_MAX];
    struct stat s;
    REQUIRE(strlen(path) < PATH_MAX, "the path has %zu characters, at most %d are possible", strlen(path),
            PATH_MAX - 1);
    const char *name = split(path, folder);
    REQUIRE(name[0], "this names a directory, not a file");
    REQUIRE(
        strlen(path) < PATH_MAX - BESIDE && strlen(name) <= NAME_MAX - BESIDE,
        "it is too long: a path of %zu characters, a name of %zu; at most %d and %d leave room for the names of the "
        "files beside it",
        strlen(path), strlen(name), PATH_MAX - BESIDE - 1, NAME_MAX - BESIDE);
    const int found = stat(folder, &s) == 0;
    REQUIRE(found || errno == ENOENT || errno == ENOTDIR, "the system says of the directory %.300s: %s", folder,
            strerror(errno));
    REQUIRE(found && S_ISDIR(s.st_mode), "there is no directory %.300s", folder);
    if (stat(path, &s) == 0) {
        REQUIRE(!S_ISDIR(s.st_mode), "this is a directory, not a file");
        REQUIRE(S_ISREG(s.st_mode), "this is a pipe or a device, not a file on disk");
        REQUIRE(access(path, W_OK) == 0, "it may not be written (%s)", strerror(errno));
    }
    REQUIRE(access(folder, W_OK | X_OK) == 0, "nothing may be written into the directory %.300s (%s)", folder,
            strerror(errno));
    const int reason = not_writable(folder, path);
    REQUIRE(!reason, "no file can be made in the directory %.300s (%s)", folder, strerror(reason));
    return 0;
}

static int same_file(const char *a, const char *b) {
    struct stat s, t;
    return stat(a, &s) == 0 && stat(b, &t) == 0 && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

/* Returns the part of `name` behind `head` where both stand in the same folder; NULL otherwise. */
static const char *behind(const char *head, const char *name) {
    char here[PATH_MAX], there[PATH_MAX];
    if (strlen(head) >= PATH_MAX || strlen(name) >= PATH_MAX)
        return NULL;
    const char *first = split(head, here), *second = split(name, there);
    const size_t n = strlen(first);
    return strncmp(first, second, n) == 0 && same_file(here, there) ? second + n : NULL;
}

int path_same(const char *a, const char *b) {
    const char *rest = behind(a, b);
    return same_file(a, b) || (rest != NULL && rest[0] == 0);
}

int path_beside(const char *output, const char *path, int n, char *rest) {
    const char *found = behind(output, path);
    char *real = found ? NULL : realpath(path, NULL);
    if (real != NULL)
        found = behind(output, real);
    const int fits = found != NULL && strlen(found) < (size_t)n;
    strcpy(rest, fits ? found : "");
    free(real);
    return fits;
}

int path_within(const char *folder, const char *path) {
    char above[PATH_MAX];
    char *real = realpath(path, NULL);
    int within = 0;
    while (real != NULL && !within && strcmp(real, "/")) {
        split(real, above);
        within = same_file(folder, above);
        strcpy(real, above);
    }
    free(real);
    return within;
}

int path_kind(const char *path) {
    struct stat s;
    if (lstat(path, &s))
        return errno == ENOENT || errno == ENOTDIR ? PATH_NOTHING : PATH_HIDDEN;
    const int link = S_ISLNK(s.st_mode);
    if (link && stat(path, &s))
        return PATH_LOOSE_LINK;
    return S_ISREG(s.st_mode) ? PATH_FILE + link : S_ISDIR(s.st_mode) ? PATH_FOLDER : PATH_OTHER;
}
