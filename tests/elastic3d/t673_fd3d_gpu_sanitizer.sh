#!/usr/bin/env bash
# The 3D GPU variants under compute-sanitizer, as those of 2D in t243.
exec "$ROOT/tests/acoustic2d/t243_gpu_sanitizer.sh" t670_fd3d_gpu
