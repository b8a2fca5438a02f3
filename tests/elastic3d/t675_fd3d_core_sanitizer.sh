#!/usr/bin/env bash
# The core of sparse 3D grids under compute-sanitizer, as the variants of 2D in t243.
exec "$ROOT/tests/acoustic2d/t243_gpu_sanitizer.sh" t674_fd3d_core
