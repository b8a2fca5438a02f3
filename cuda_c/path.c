/* Questions about files that Fortran's inquire cannot answer: kind, permission, identity. */
#include <errno.h>
#include <limits.h>
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

int path_output(const char *path) {
    char folder[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/');
    struct stat s;
    REQUIRE(strlen(path) < PATH_MAX, "the path has %zu characters, at most %d are possible", strlen(path),
            PATH_MAX - 1);
    REQUIRE(!slash || slash[1], "this names a directory, not a file");
    if (slash) {
        size_t n = slash == path ? 1 : (size_t)(slash - path);
        memcpy(folder, path, n);
        folder[n] = 0;
    }
    REQUIRE(stat(folder, &s) == 0 && S_ISDIR(s.st_mode), "there is no directory %.300s", folder);
    if (stat(path, &s) == 0) {
        REQUIRE(!S_ISDIR(s.st_mode), "this is a directory, not a file");
        REQUIRE(S_ISREG(s.st_mode), "this is a pipe or a device, not a file on disk");
        REQUIRE(access(path, W_OK) == 0, "it may not be written (%s)", strerror(errno));
    }
    REQUIRE(access(folder, W_OK | X_OK) == 0, "nothing may be written into the directory %.300s (%s)", folder,
            strerror(errno));
    return 0;
}

int path_same(const char *a, const char *b) {
    struct stat s, t;
    return stat(a, &s) == 0 && stat(b, &t) == 0 && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}
