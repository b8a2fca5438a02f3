#pragma once

/* True if a process has the name of this job in its environment: a daemon may start the ranks of several jobs. Where
 * there is no name all have it. */
int launcher_same_job(long pid);
