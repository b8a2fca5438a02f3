/* Traces and state of the 3D time loop. */
#include "fd3d.h"

#define SOLVER       "3D"
#define VERB(name)   fd3d_##name
#define HANDLE       fd3d
#define PART         fd3d_part
#define PARTS        FD3D_PARTS
#define EXPECTED(fd) ((fd)->expected)
#include "fd_state.inc"
