// A grid of the `tuned` variant, as the files of its host side share it: fd2d_tuned.cu has memory, points and steps,
// fd2d_tuned_medium.cu the model and the layers, fd2d_tuned_fields.cu fields and the state, fd2d_tuned_trial.cu trials.
#pragma once

#include "fd2d_tuned_blocks.h"

namespace tuned {

constexpr int BLOCK = 256; // threads of simple kernels

// Receivers' cells within a pass of several steps; fd2d_tuned_taps.cu.
struct pass_taps {
    int *slot;       // as tap_list has it
    ptrdiff_t *cell; // of the receivers
    float *sigma[2]; // of two passes, one that is sampled and one that is written
    size_t room_slot, room_cell, room_sigma;
    int first, end; // rows where receivers are
    ptrdiff_t count;
};

// Two copies of s (read one, write the other), of velocities and of psi of grad s; where there are passes of several
// steps, of e and all psi. At the end of a chunk of steps what counts is always in the first.
struct own_t : gpu_frame {
    args g;
    launch now, pass;  // one step; several in one pass, pass.steps = 0: none
    launch stay;       // many by tiles that stay, stay.steps = 0: none
    stay_board *board; // theirs; what they tell each other, in pairs of 32 bits
    float *told;
    pass_taps taps;
    size_t room_box, room_q;
    float *q; // source wavelet
    float *s[2], *e[2], *vx[2], *vz[2], *kk, *rho, *rho_z, *psix[2], *psix_s[2], *psiz[2], *psiz_s[2], *px, *pz, *slab,
        *box_w;
    float *within;    // memory variables after the steps within a pass
    int *second;      // steps after the first of a pair
    ptrdiff_t origin; // of cell (0,0) in the padded arrays
    size_t count, psix_count, psiz_count;
    int slab_rows; // of the model at a time
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

// fd2d_tuned_trial.cu: the launches of a new handle, timed if they are not known; fields are 0 then. `steps` and
// `passes` queue so many of them.
int find_shape(handle *h, queue_launches steps, queue_launches passes);

// fd2d_tuned_stay.cu: queues an even number of steps by tiles that stay, from the first copies of fields to these.
int stay_in(own_t *o, const launch &l, args g, int steps);

// fd2d_tuned_taps.cu: those of new receivers; device memory they take.
int put_taps(handle *h);
size_t taps_need(const fd2d_cfg *c, int receivers);

} // namespace tuned
