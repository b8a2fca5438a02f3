// Shapes of the `tuned` variant by name, and what was found remembered from one run to the next (tuning_cache_c.f90),
// for as long as the kernels are the same: of other sources, or compiled in another way, they may have another fastest
// shape.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "counts.h"
#include "fd2d_tuned_blocks.h"
#include "kernels.h"

namespace tuned {

static const char *const names[ALL_FORMS] = {"strips-256", "strips-512", "tiles-32", "tiles-64", "pass-1",
                                             "pass-2",     "pass-3",     "pass-4",   "stay-16",  "stay-32"};

const char *form_name(form kind) { return names[kind]; }

static bool find_among(int first, int end, const char *name, form *kind) {
    for (int n = first; n < end; n++)
        if (strcmp(names[n], name) == 0) {
            *kind = (form)n;
            return true;
        }
    return false;
}

int find_form(const char *name, form *kind) {
    if (find_among(0, FORMS, name, kind) || find_among(STAY_LOW, ALL_FORMS, name, kind))
        return 0;
    FAIL("there is no shape \"%.20s\", there are %s, %s, %s, %s, %s and %s", name, names[0], names[1], names[2],
         names[3], names[STAY_LOW], names[STAY_HIGH]);
}

static const char *const STEPS[MOST_STEPS + 1] = {"auto", "1", "2", "3", "4"};

static int make_key(const fd2d_cfg *c, int device, bool of_passes, char key[400]) {
    cudaDeviceProp p;
    CUDA_TRY(cudaGetDeviceProperties(&p, device));
    snprintf(key, 400,
             "%s, %d x %d cells, half-length %d, layers %d %d %d %d, surface %d, velocities %d%s%s%s, kernels %s",
             p.name, c->nx, c->nz, c->half_length, c->nleft, c->nright, c->ntop, c->nbottom, c->free_top, c->velocities,
             c->apart ? ", densities apart" : "", of_passes ? ", steps a pass " : "",
             of_passes ? STEPS[c->steps_a_pass] : "", SPL_KERNELS);
    return 0;
}

bool recall_choice(const fd2d_cfg *c, int device, bool of_passes, choice *best) {
    char key[400], text[64], name[24];
    const char *rest;
    choice found;
    long waves, weight, pair;
    int length = 0;
    if (make_key(c, device, of_passes, key) || tuning_cache_find("shapes", key, sizeof text, text) ||
        sscanf(text, "%23s%n", name, &length) != 1 ||
        !find_among(of_passes ? NO_PASS : 0, of_passes ? ALL_FORMS : FORMS, name, &found.kind) ||
        count_read(text + length, 1, 8, &rest, &waves))
        return false;
    char *end;
    found.side = strtod(rest, &end); // one that is beyond its kind is infinite, and refused
    // single steps know no pairs: their blocks would leave one of the sides out
    if (end == rest || !(found.side >= 1 && found.side <= 8) || count_read(end, 1, 8, &rest, &weight) ||
        count_read(rest, 0, of_passes ? 1 : 0, NULL, &pair))
        return false;
    found.waves = (int)waves;
    found.weight = (int)weight;
    found.pair = (int)pair;
    *best = found;
    return true;
}

void keep_choice(const fd2d_cfg *c, int device, bool of_passes, const choice &best) {
    char key[400], text[64];
    snprintf(text, sizeof text, "%s %d %g %d %d", names[best.kind], best.waves, best.side, best.weight, best.pair);
    if (make_key(c, device, of_passes, key) == 0)
        tuning_cache_add("shapes", key, text); // where it cannot, the next run takes the time again
}

} // namespace tuned
