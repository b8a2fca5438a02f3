/* A graph in parts, by METIS (Karypis & Kumar 1998, SIAM Journal on Scientific Computing 20, 359-392). */
#include <metis.h>
#include <signal.h>
#include <stdlib.h>

#include "iface.h"

static idx_t *copy(int n, const int *numbers) {
    idx_t *to = malloc((size_t)(n > 0 ? n : 1) * sizeof *to);
    for (int i = 0; to && i < n; i++)
        to[i] = numbers[i];
    return to;
}

int sem3d_graph_parts(int n, const int *start, const int *next, const int *faces, const int *cost, int parts,
                      int recursive, int uneven, int *part) {
    const int links = start[n] - 1;
    idx_t vertices = n, constraints = 1, count = parts, cut, options[METIS_NOPTIONS];
    idx_t *xadj = copy(n + 1, start), *adjacent = copy(links, next), *weight = copy(n, cost),
          *linked = copy(links, faces);
    idx_t *to = copy(n, cost);
    int status = METIS_ERROR_MEMORY;
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_NUMBERING] = 1;
    options[METIS_OPTION_UFACTOR] = uneven;
    if (xadj && adjacent && weight && linked && to) {
        /* METIS takes SIGTERM for an error of its own: one that comes to this thread waits. */
        sigset_t term, before;
        sigemptyset(&term);
        sigaddset(&term, SIGTERM);
        pthread_sigmask(SIG_BLOCK, &term, &before);
        status = (recursive ? METIS_PartGraphRecursive : METIS_PartGraphKway)(
            &vertices, &constraints, xadj, adjacent, weight, NULL, linked, &count, NULL, NULL, options, &cut, to);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    for (int i = 0; status == METIS_OK && i < n; i++)
        part[i] = (int)to[i];
    free(xadj);
    free(adjacent);
    free(weight);
    free(linked);
    free(to);
    return status == METIS_OK;
}
