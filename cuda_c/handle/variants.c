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

static int check_number(const solver_kind *s, int n) {
    REQUIRE(n >= 0 && n < s->variants, "kernel variant number %d, must be 0..%d", n, s->variants - 1);
    return 0;
}

int variants_name(const solver_kind *s, int n, int length, char *text) {
    TRY(check_number(s, n));
    return copy_text(s->variant[n]->name, length, text);
}

int variants_about(const solver_kind *s, int n, int length, char *text) {
    TRY(check_number(s, n));
    return copy_text(s->variant[n]->about, length, text);
}

int variants_needs_gpu(const solver_kind *s, int n) { return n >= 0 && n < s->variants && s->variant[n]->needs_gpu; }

int variants_built(const solver_kind *s, int n) { return n >= 0 && n < s->variants && s->variant[n]->verbs != NULL; }

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
