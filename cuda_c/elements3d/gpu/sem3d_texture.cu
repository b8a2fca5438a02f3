/* The `texture` variant: as `global`, with displacement and medium fetched through 1D textures of linear memory. On the
 * GPUs of the paper these had the only cache; since Volta they share it with global memory. A 1D texture has at most
 * 2^27 or 2^28 elements, depending on the GPU: larger meshes are refused with the limit. */
#include "sem3d_gpu_plain.cuh"

using namespace sem3d_gpu_plain;

struct textures {
    cudaTextureObject_t displacements, media;
    int field, first, medium_from; /* of the phase */
    textures(const sem3d_gpu *o, int fluid)
        : displacements(o->displacement), media(o->media), field((int)o->field[0]),
          first((int)(o->phase[fluid].u[0] - o->fields)), medium_from((int)(o->phase[fluid].e.medium - o->medium)) {}
    __device__ float displacement(const sem3d_gpu_phase &, int c, int at) const {
        return tex1Dfetch<float>(displacements, first + c * field + at);
    }
    __device__ float medium(const sem3d_gpu_elements &, ptrdiff_t at) const {
        return tex1Dfetch<float>(media, medium_from + (int)at);
    }
};

static int forces(sem3d_gpu *o, const sem3d_gpu_phase *, int fluid, const int *list, int n) {
    return launch_shape<SEM3D_STORED, textures>(o, fluid, list, n);
}

static const sem3d_gpu_kind kind = {.textures = 1, .forces = forces};

SEM3D_VARIANT(texture) = {"texture", "GPU: as global, displacement and medium through 1D textures", 1,
                          &sem3d_gpu_verbs.common, &kind};
