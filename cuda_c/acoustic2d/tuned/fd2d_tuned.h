// A grid of the `tuned` variant, as the files of its host side share it: fd2d_tuned.cu has memory, points and steps,
// fd2d_tuned_medium.cu the model and the layers, fd2d_tuned_fields.cu fields and the state.
#pragma once

#include "fd2d_tuned_blocks.h"

namespace tuned {

constexpr int BLOCK = 256; // threads of simple kernels

// Two copies of s (read one, write the other), of velocities and of psi of grad s. At the end of a chunk of steps s is
// always in the first.
struct own_t : gpu_frame {
    args g;
    launch now;
    size_t room_box, room_q;
    float *q; // source wavelet
    float *s[2], *e, *vx[2], *vz[2], *kk, *rho, *rho_z, *psix[2], *psix_s, *psiz[2], *psiz_s, *px, *pz, *slab, *box_w;
    int *second;      // steps after the first of a pair
    ptrdiff_t origin; // of cell (0,0) in the padded arrays
    size_t count, psix_count, psiz_count;
    int slab_rows; // of the model at a time
    int close;     // steps may follow closely, here
    int alone;     // no shots beside this one
};

#define NO_VELOCITIES "variant=tuned keeps velocities only where its configuration says so: set `velocities` in it"

inline own_t *own(const handle *h) { return (own_t *)h->own; }

// The verbs of fd2d.h and handle.h of these names.
int model(fd2d *fd, const float *kappa, const float *rho, const float *rho_z);
int pml(handle *h);
int get(fd2d *fd, int field, float *out);
int set(handle *h, int field, const float *in);
int reset(handle *h);
int state(handle *h, state_part *part);

} // namespace tuned
