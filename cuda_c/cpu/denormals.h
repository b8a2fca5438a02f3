/* Denormal numbers count as zero inside a time loop: the tail of a wave front is full of them, and processors take them
 * slowly. For the calling thread; give back what flush_denormals returned. */
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
static inline unsigned long flush_denormals(void) {
    unsigned old = _mm_getcsr();
    _mm_setcsr(old | 0x8040); /* FTZ, DAZ */
    return old;
}
static inline void restore_denormals(unsigned long old) { _mm_setcsr((unsigned)old); }
#elif defined(__aarch64__)
static inline void restore_denormals(unsigned long value) { __asm__ volatile("msr fpcr, %0" : : "r"(value)); }
static inline unsigned long flush_denormals(void) {
    unsigned long old;
    __asm__ volatile("mrs %0, fpcr" : "=r"(old));
    restore_denormals(old | 1ul << 24);
    return old;
}
#else
static inline unsigned long flush_denormals(void) { return 0; }
static inline void restore_denormals(unsigned long value) { (void)value; }
#endif
