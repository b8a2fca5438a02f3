/* Kernel variants of a solver by name, in the order of its list; what the verbs say is in interfaces/fd2d_c.f90. */
#pragma once

#include "handle.h"

int variants_name(const solver_kind *s, int n, int length, char *text);
int variants_about(const solver_kind *s, int n, int length, char *text);
int variants_needs_gpu(const solver_kind *s, int n);
int variants_built(const solver_kind *s, int n);
/* The variant of that name that is in this build; null with a sentence that names those that are. */
const kernel_variant *variants_find(const solver_kind *s, const char *name);

/* As much of `from` as fits, null-terminated. */
int copy_text(const char *from, int length, char *text);
