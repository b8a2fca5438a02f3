#pragma once

/* Tells whether a process lives: 1, and `ticks` tells when it started, in ticks since the system did; 0 there is none,
 * or it is dead; -1 that cannot be told. It is dead from the moment it is killed: for seconds it may still be in the
 * table while its memory, its GPU or a core file are seen to (flags PF_EXITING and PF_SIGNALED of the kernel), or
 * its parent has not waited for it. */
int process_started(long pid, unsigned long long *ticks);

/* 1: it lives, and a signal has stopped it (SIGSTOP); one that a debugger holds is not stopped. */
int process_stopped(long pid);
