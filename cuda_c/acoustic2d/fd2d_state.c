/* Traces and state of the 2D time loop. */
#include "fd2d.h"

#define SOLVER       "2D"
#define VERB(name)   fd2d_##name
#define HANDLE       fd2d
#define PART         fd2d_part
#define PARTS        FD2D_PARTS
#define EXPECTED(fd) ((fd)->nq)
#include "fd_state.inc"
