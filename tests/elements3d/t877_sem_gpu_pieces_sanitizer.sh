#!/usr/bin/env bash
# Pieces of a mesh on a GPU under compute-sanitizer, as the GPU variants of 2D in t243.
exec "$ROOT/tests/acoustic2d/t243_gpu_sanitizer.sh" t875_sem_gpu_pieces
