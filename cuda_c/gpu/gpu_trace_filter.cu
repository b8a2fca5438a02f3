// Filters of traces where these are: what goes home is filtered, in double precision, and resampled, an eighth or so of
// the samples. A filter is two bands (interfaces/handle_c.f90): the first thins the samples, the second makes the
// output.
//
// Bound by arithmetic, not by memory: a thread makes four rows of one receiver, 32 receivers side by side share the
// numbers of the band, and the rows of a block share the samples, which then come from the first cache.
#include <cstring>

#include "gpu_points.h"

enum { ROWS = 4, RECEIVERS = 32, GROUPS = 8 }; // rows a thread; receivers and groups a block

struct band_view {
    int columns, rows, groups;
    const int *first, *count, *at;
    const float *gain;
    const float4 *m;
};

// y(nrec, rows) = m (gain x), x(nrec, columns); rows of x and y are x_pitch and y_pitch apart.
static __global__ void __launch_bounds__(RECEIVERS *GROUPS)
    apply(band_view b, const float *x, ptrdiff_t x_pitch, int nrec, float *y, ptrdiff_t y_pitch) {
    const int g = blockIdx.x * GROUPS + threadIdx.y, r = blockIdx.y * RECEIVERS + threadIdx.x;
    if (g >= b.groups || r >= nrec)
        return;
    const int first = b.first[g], left = b.columns - first;
    const int begin = first < 0 ? -first : 0, end = b.count[g] < left ? b.count[g] : left;
    const float4 *m = b.m + b.at[g];
    double sum[ROWS] = {0, 0, 0, 0};
    x += r;
    for (int c = begin; c < end; c++) {
        float sample = x[(ptrdiff_t)(first + c) * x_pitch];
        if (b.gain != nullptr)
            sample = __fmul_rn(b.gain[first + c], sample);
        const double s = sample;
        const float4 w = m[c];
        sum[0] += w.x * s;
        sum[1] += w.y * s;
        sum[2] += w.z * s;
        sum[3] += w.w * s;
    }
    for (int j = 0; j < ROWS; j++)
        if (ROWS * g + j < b.rows)
            y[(ptrdiff_t)(ROWS * g + j) * y_pitch + r] = (float)sum[j];
}

// --- a filter to the device ------------------------------------------------------------------------------------------

static int put_band(gpu_queue *q, gpu_band *to, const trace_band *from) {
    const size_t groups = (size_t)from->groups, n = ROWS * (size_t)from->n, columns = (size_t)from->columns;
    const void *const lists[] = {from->first, from->count, from->at};
    to->columns = to->rows = to->groups = 0; // until all is there
    TRY(gpu_grow(q, &to->index, &to->room_index, 3 * groups, sizeof(int), "filters of traces"));
    TRY(gpu_grow(q, &to->number, &to->room_number, n + columns, sizeof(float), "filters of traces"));
    for (size_t l = 0; l < 3; l++)
        TRY(gpu_upload(q, to->index + l * groups, lists[l], groups * sizeof(int)));
    TRY(gpu_upload(q, to->number, from->m, n * sizeof(float)));
    if (from->gain != nullptr)
        TRY(gpu_upload(q, to->number + n, from->gain, columns * sizeof(float)));
    to->columns = from->columns;
    to->rows = from->rows;
    to->groups = from->groups;
    to->has_gain = from->gain != nullptr;
    to->n = n;
    return 0;
}

int gpu_put_filter(gpu_queue *q, gpu_points *p, int which, const trace_band band[2]) {
    for (int b = 0; b < 2; b++)
        TRY(put_band(q, &p->filter[which][b], &band[b]));
    return 0;
}

static band_view view_of(const gpu_band *b) {
    const int *i = b->index;
    return {b->columns,
            b->rows,
            b->groups,
            i,
            i + b->groups,
            i + 2 * (size_t)b->groups,
            b->has_gain ? b->number + b->n : nullptr,
            (const float4 *)b->number};
}

// --- traces ----------------------------------------------------------------------------------------------------------

static int queue_band(gpu_queue *q, const gpu_band *b, const float *x, ptrdiff_t x_pitch, int nrec, float *y,
                      ptrdiff_t y_pitch) {
    const dim3 blocks((b->groups + GROUPS - 1) / GROUPS, (nrec + RECEIVERS - 1) / RECEIVERS);
    apply<<<blocks, dim3(RECEIVERS, GROUPS), 0, q->stream>>>(view_of(b), x, x_pitch, nrec, y, y_pitch);
    CUDA_TRY(cudaGetLastError());
    return 0;
}

// As many receivers at a time as the memory for it takes; on the stream of the handle, beside the steps of others.
int gpu_get_filtered(gpu_queue *q, gpu_points *p, int nrec, int which, int first, int count, float *out) {
    const gpu_receivers *v = &p->view;
    const gpu_band *band = p->filter[which];
    REQUIRE(v->nrec == nrec && v->trace != nullptr, "no traces on the GPU: give the receivers again");
    const size_t each = ((size_t)band[0].rows + (size_t)band[1].rows) * sizeof(float);
    const size_t fit = GPU_SCRATCH / each / RECEIVERS * RECEIVERS;
    const int most = fit < RECEIVERS ? RECEIVERS : fit < (size_t)count ? (int)fit : count;
    for (int b = 0; b < 2; b++)
        TRY(gpu_grow(q, &p->filtered[b], &p->room_filtered[b], (size_t)most * (size_t)band[b].rows, sizeof(float),
                     "filtered traces"));
    for (int r = 0; r < count; r += most) {
        const int now = count - r < most ? count - r : most;
        TRY(queue_band(q, &band[0], v->trace + first + r, v->nrec, now, p->filtered[0], most));
        TRY(queue_band(q, &band[1], p->filtered[0], most, now, p->filtered[1], most));
        TRY(gpu_bring(q, p->filtered[1], most, now, band[1].rows, out + (size_t)r * (size_t)band[1].rows));
    }
    return 0;
}
