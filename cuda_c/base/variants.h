/* Kernel variants of a solver by name, in the order of its .def; what the verbs say is in interfaces/fd2d_c.f90. */
#pragma once

typedef struct variant_words {
    const char *name, *about;
    int needs_gpu, built; /* built: it is in this build */
} variant_words;

typedef struct variant_list {
    int count;
    variant_words (*words)(int n);
    const char *solver; /* for a sentence: "" or " of the 3D solver" */
} variant_list;

int variants_name(const variant_list *list, int n, int length, char *text);
int variants_about(const variant_list *list, int n, int length, char *text);
int variants_needs_gpu(const variant_list *list, int n);
int variants_built(const variant_list *list, int n);
/* Number of the variant of that name that is in this build; -1 with a sentence that names those that are. */
int variants_find(const variant_list *list, const char *name);

/* As much of `from` as fits, null-terminated. */
int copy_text(const char *from, int length, char *text);
