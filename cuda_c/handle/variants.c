/* Kernel variants of a solver by name. */
#include "variants.h"

#include <string.h>

#include "err.h"

int copy_text(const char *from, int length, char *text) {
    REQUIRE(text != NULL && length >= 1, "text of length %d, must be at least 1", length);
    size_t n = strlen(from);
    if (n > (size_t)length - 1)
        n = (size_t)length - 1;
    memcpy(text, from, n);
    text[n] = 0;
    return 0;
}

int variants_count(void *solver) { return solver == NULL ? 0 : ((const solver_kind *)solver)->variants; }

/* Variant n; null, with a sentence, if there is none. */
static const kernel_variant *variant(void *solver, int n) {
    const solver_kind *s = solver;
    const int count = variants_count(solver);
    if (n >= 0 && n < count)
        return s->variant[n];
    err_set("kernel variant number %d, must be 0..%d", n, count - 1);
    return NULL;
}

int variants_name(void *solver, int n, int length, char *text) {
    const kernel_variant *v = variant(solver, n);
    return v == NULL ? 1 : copy_text(v->name, length, text);
}

int variants_about(void *solver, int n, int length, char *text) {
    const kernel_variant *v = variant(solver, n);
    return v == NULL ? 1 : copy_text(v->about, length, text);
}

int variants_needs_gpu(void *solver, int n) {
    const kernel_variant *v = variant(solver, n);
    return v != NULL && v->needs_gpu;
}

int variants_built(void *solver, int n) {
    const kernel_variant *v = variant(solver, n);
    return v != NULL && v->verbs != NULL;
}

const kernel_variant *variants_find(const solver_kind *s, const char *name) {
    char known[512] = "";
    size_t used = 0;
    for (int n = 0; n < s->variants; n++) {
        const kernel_variant *v = s->variant[n];
        if (v->verbs == NULL)
            continue;
        if (strcmp(v->name, name) == 0)
            return v;
        if (used + strlen(v->name) + 3 > sizeof known)
            continue;
        if (used > 0)
            used += copy_text(", ", (int)(sizeof known - used), known + used) ? 0 : 2;
        copy_text(v->name, (int)(sizeof known - used), known + used);
        used = strlen(known);
    }
    err_set("no kernel variant \"%.40s\" of the %s solver in this build, which has: %s", name, s->name,
            used > 0 ? known : "none");
    return NULL;
}
