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

static int check_variant(const variant_list *list, int n) {
    REQUIRE(n >= 0 && n < list->count, "kernel variant number %d, must be 0..%d", n, list->count - 1);
    return 0;
}

int variants_name(const variant_list *list, int n, int length, char *text) {
    TRY(check_variant(list, n));
    return copy_text(list->words(n).name, length, text);
}

int variants_about(const variant_list *list, int n, int length, char *text) {
    TRY(check_variant(list, n));
    return copy_text(list->words(n).about, length, text);
}

int variants_needs_gpu(const variant_list *list, int n) {
    return n >= 0 && n < list->count && list->words(n).needs_gpu;
}

int variants_built(const variant_list *list, int n) { return n >= 0 && n < list->count && list->words(n).built; }

int variants_find(const variant_list *list, const char *name) {
    char known[512] = "";
    size_t used = 0;
    for (int n = 0; n < list->count; n++) {
        const variant_words v = list->words(n);
        if (!v.built)
            continue;
        if (strcmp(v.name, name) == 0)
            return n;
        if (used + strlen(v.name) + 3 > sizeof known)
            continue;
        if (used > 0)
            used += copy_text(", ", (int)(sizeof known - used), known + used) ? 0 : 2;
        copy_text(v.name, (int)(sizeof known - used), known + used);
        used = strlen(known);
    }
    err_set("no kernel variant \"%.40s\"%s in this build, which has: %s", name, list->solver,
            used > 0 ? known : "none");
    return -1;
}
