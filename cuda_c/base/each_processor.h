/* Before a function: it is compiled for three generations of x86-64, and the one that the processor has runs. Only for
 * loops that round alike in all of them. */
#pragma once

#if defined __x86_64__ && defined __GNUC__ && !defined __clang__ && !defined __SANITIZE_ADDRESS__
#define EACH_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define EACH_PROCESSOR
#endif
