/* Blocks of the core that run at the same time stay side by side: the rim of a tile, which its neighbours read as well,
 * then comes from the second cache. Left alone, blocks drift apart (tools/bench/history.md).
 *
 * It is a pace and no barrier: nothing depends on it. Every EVERY planes a block passes a mark and asks how many marks
 * those of its turn have passed; it has the answer a plane later, and waits only where some are more than a mark
 * behind. A block that has looked LOOKS times in vain goes on alone to the end of its launch, as others have no
 * processor yet or another shot has taken it. */
#pragma once

/* In device memory, zero between launches. */
typedef struct fd3d_gpu_pace {
    enum { TURNS = 255, EVERY = 4, LOOKS = 32 };
    unsigned ended;         /* blocks of this launch */
    unsigned passed[TURNS]; /* marks, by all blocks of each turn of the processors; later turns share them */
} fd3d_gpu_pace;

#ifdef __CUDACC__
/* Of a block, in shared memory; thread 0 alone calls it. */
struct fd3d_pace {
    fd3d_gpu_pace *all;
    unsigned *passed, blocks, marks, planes;
    bool alone;

    /* `together`: blocks that run at the same time; `most`: planes that a block of the launch marches through. */
    __device__ void begin(fd3d_gpu_pace *pace, unsigned together, int most) {
        const unsigned turn = blockIdx.x / together;
        all = pace;
        passed = pace->passed + turn % fd3d_gpu_pace::TURNS;
        blocks = min(together, gridDim.x - turn * together);
        marks = (unsigned)most / fd3d_gpu_pace::EVERY;
        planes = 0;
        alone = false;
    }
    /* Before each plane; `seen`: what the last answer was. */
    __device__ void plane(unsigned &seen) {
        const unsigned since = ++planes % fd3d_gpu_pace::EVERY;
        if (since == 0) {
            atomicAdd(passed, 1u);
            seen = look();
        } else if (since == 1 && planes > 2 * fd3d_gpu_pace::EVERY) {
            const unsigned least = planes / fd3d_gpu_pace::EVERY * blocks;
            for (int looks = 0; !alone && seen < least; looks++, seen = look())
                alone = looks == fd3d_gpu_pace::LOOKS;
        }
    }
    /* Behind the last plane: nobody waits for this block any more, and the last of all leaves zeros. */
    __device__ void end() {
        atomicAdd(passed, marks - min(marks, planes / fd3d_gpu_pace::EVERY));
        __threadfence();
        if (atomicAdd(&all->ended, 1u) + 1 < gridDim.x)
            return;
        for (int n = 0; n < fd3d_gpu_pace::TURNS; n++)
            all->passed[n] = 0;
        all->ended = 0;
    }
    __device__ unsigned look() const { return *(volatile unsigned *)passed; }
};
#endif
