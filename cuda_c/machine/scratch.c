/* A scratch folder of our own: see interfaces/scratch_c.f90. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "err.h"
#include "iface.h"

static const char NAME[] = "spl-scratch-XXXXXX";

int scratch_make(char *path, int n) {
    const char *base = getenv("TMPDIR");
    if (base == NULL || base[0] == 0)
        base = "/tmp";
    int length = snprintf(path, (size_t)n, "%s/%s", base, NAME);
    REQUIRE(length < n,
            "the path of the folder for temporary files, TMPDIR = %.60s..., is too long: at most %d characters", base,
            n - (int)sizeof NAME - 1);
    REQUIRE(mkdtemp(path),
            "cannot make a folder for temporary files in '%s': %s; set TMPDIR to one that can be written", base,
            strerror(errno));
    return 0;
}

int scratch_remove(const char *path) {
    REQUIRE(strstr(path, "spl-scratch-"), "'%s' is not a scratch folder", path);
    DIR *folder = opendir(path);
    REQUIRE(folder, "cannot open the scratch folder '%s': %s", path, strerror(errno));
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
    REQUIRE(rmdir(path) == 0, "cannot remove the scratch folder '%s': %s", path, strerror(errno));
    return 0;
}
