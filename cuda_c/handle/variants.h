/* Kernel variants of a solver by name; by number they are asked for with interfaces/handle_c.f90. */
#pragma once

#include "handle.h"

/* The variant of that name that is in this build; null with a sentence that names those that are. */
const kernel_variant *variants_find(const solver_kind *s, const char *name);

/* As much of `from` as fits, null-terminated. */
int copy_text(const char *from, int length, char *text);
