/* The `texture` variant: `global` with the medium fetched through 1D textures of linear memory, as the first step of
 * AWP-ODC's ladder has it. There that brought the read-only cache into play; since Volta textures and global memory
 * share one cache, so that what is left to see is the other way to it. A 1D texture has at most 2^27 or 2^28 elements,
 * depending on the GPU: larger grids are refused with the limit. */
#include "fd3d_gpu_plain.cuh"

using namespace fd3d_gpu_plain;

struct textures {
    const cudaTextureObject_t *texture;
    int at;
    __device__ textures(const fd3d_gpu_grid &g, ptrdiff_t cell)
        : texture(g.texture), at(g.texture_origin + (int)cell) {}
    __device__ float operator()(int array, ptrdiff_t o) const { return tex1Dfetch<float>(texture[array], at + (int)o); }
};

static const fd3d_gpu_kind kind = {
    .shape = {32, 4, 2},
    .textures = 1,
    .velocity = {velocity_step<textures, 1>, velocity_step<textures, 2>, velocity_step<textures, 3>,
                 velocity_step<textures, 4>},
    .stress = {stress_step<textures, 1>, stress_step<textures, 2>, stress_step<textures, 3>, stress_step<textures, 4>},
};

FD3D_VARIANT(texture) = {"texture", "GPU: as global, the medium through 1D textures", 1, &fd3d_gpu_verbs.common, &kind};
