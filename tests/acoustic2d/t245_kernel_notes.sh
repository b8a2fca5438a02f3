#!/usr/bin/env bash
# Measurements of kernels are kept under a checksum of them (build/gpu/kernels.h): the same for the same kernels however often
# and wherever they are built, another for other sources, flags or compilers. nvcc is played.
set -uo pipefail
failed=0
claim() { # NAME COMMAND...
  local name=$1
  shift
  if "$@"; then echo "ok   - $name"; else
    echo "FAIL - $name"
    failed=1
  fi
}
nvcc() { # VERSION: a compiler that tells this version
  printf '#!/bin/sh\necho "%s"\n' "$1" > nvcc
  chmod +x nvcc
}
sum() { # FOLDER [ASSIGNMENT]: the checksum there, as make makes it
  env -u MAKEFLAGS -u MAKEOVERRIDES -u GPU -u DEBUG -u FUZZ make -s -C "$1" \
     NVCC="$PWD/nvcc" "${2:-ARCH=sm_90}" build/gpu/kernels.h > make.log 2>&1 || cat make.log >&2
  sed -n 's/^#define SPL_KERNELS "\(.*\)"$/\1/p' "$1/build/gpu/kernels.h"
}
for copy in one two; do
  mkdir -p "$copy/tools/build"
  cp -r "$ROOT/Makefile" "$ROOT/cuda_c" "$ROOT/interfaces" "$ROOT/fortran" "$copy"
  cp "$ROOT/tools/build/fortran-deps" "$copy/tools/build"
done
nvcc "release 1"
first=$(sum one)
claim "kernels have a checksum: $first" test ${#first} = 16
claim "the same sources elsewhere have the same" test "$(sum two)" = "$first"
sleep 1
find one/cuda_c -type f -exec touch {} +
claim "sources that are only newer have the same" test "$(sum one)" = "$first"
for file in acoustic2d/tuned/fd2d_tuned_tile.cuh stencil/der.h gpu/gpu_points.cu; do
  printf '\n' >> "one/cuda_c/$file"
  next=$(sum one)
  claim "other with a change in $file" test "$next" != "$first" -a ${#next} = 16
  first=$next
done
claim "other for another GPU" test "$(sum one ARCH=sm_80)" != "$first"
claim "the same again for the first one" test "$(sum one)" = "$first"
nvcc "release 2"
rm one/build/gpu/kernels.h
claim "other by another compiler" test "$(sum one)" != "$first"
exit $failed
