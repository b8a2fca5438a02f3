#!/usr/bin/env bash
# The GPU variants of spectral elements under compute-sanitizer, as those of 2D in t243.
exec "$ROOT/tests/acoustic2d/t243_gpu_sanitizer.sh" t871_sem_gpu
