/* The part of files.c that C alone needs; all else is in interfaces/files_c.f90. */
#pragma once

/* Fails unless `fd` is the file that `path` names: it may have been removed, replaced or unmounted meanwhile. */
int file_same(const char *path, int fd);

/* From now on writing beyond a limit of file size (ulimit -f) fails with a sentence instead of ending the process. */
void file_limit_is_error(void);

/* n bytes of an open file from `offset` on; fails with a sentence where they are not there. */
int file_read_all(int fd, void *bytes, long n, long offset, const char *path);
