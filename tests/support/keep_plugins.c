/* Linked into sanitized programs only: plug-ins of Open MPI stay loaded, so that the leak sanitizer can tell whose
 * memory it found and leaks.supp can excuse theirs. */
int dlclose(void *handle);
int dlclose(void *handle) {
    (void)handle;
    return 0;
}
