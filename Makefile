# The only makefile. `make help` tells the targets; `make DEBUG=1 ...` builds with every run-time check in build/debug.
# GPU kernels are built where nvcc is (GPU=0: not), for the GPUs present, else for ARCH=sm_90; ARCH=all: those of sm_75 .. sm_100
# that nvcc knows.

PREFIX  ?= /usr/local
SHELL   := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all
MAKEFLAGS += --no-builtin-rules
# All cores compile, unless -j says how many. Of several targets, which may build the same files, one comes after the other.
ifeq ($(MAKELEVEL)$(word 2,$(MAKECMDGOALS)),0)
MAKEFLAGS += -j$(shell nproc)
endif

FC := mpifort
CC := gcc
PROGRAMS := SplFd2dmod SplFd3dmod SplSemmod

# --- CUDA, if there is a compiler for it --------------------------------------------------------------------------------
NVCC     := $(firstword $(shell command -v nvcc 2>/dev/null) $(wildcard /usr/local/cuda/bin/nvcc))
CUDA     := $(if $(or $(DEBUG),$(FUZZ),$(filter 0,$(GPU))),,$(NVCC))
CUDA_LIB := $(firstword $(wildcard $(dir $(realpath $(NVCC)))../lib64 $(dir $(realpath $(NVCC)))../lib /usr/lib/x86_64-linux-gnu))
# GPUs older than the kernels need (device.cu) are passed over: nvcc 13 refuses them.
ARCHS    := $(if $(ARCH),$(filter-out all,$(ARCH)),$(or $(sort $(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader \
            2>/dev/null | awk -F. '/^[0-9]+[.][0-9]$$/ && 10*$$1 + $$2 >= 75 { print "sm_" $$1 $$2 }')),sm_90))
ifeq ($(ARCH),all)
  ARCHS  := $(filter $(if $(CUDA),$(shell $(NVCC) --list-gpu-code)),sm_75 sm_80 sm_86 sm_89 sm_90 sm_100)
  NEWEST := $(patsubst sm_%,compute_%,$(lastword $(ARCHS)))
  PTX    := -gencode arch=$(NEWEST),code=$(NEWEST)
endif
# Continuous integration has no GPU: it sees that kernels compile without a warning, and does not wait for fast ones.
QUICK    := $(if $(and $(CI),$(CUDA)),$(shell $(NVCC) --help | grep -e --Ofast-compile > /dev/null && echo -Ofc max))
NVFLAGS  := -std=c++17 -O3 -ftz=true -lineinfo -Xcompiler -Wall,-Wextra,-Wno-missing-field-initializers $(PTX) \
            $(foreach a,$(ARCHS),-gencode arch=$(a:sm_%=compute_%),code=$(a)) \
            $(if $(or $(CI),$(WERROR)),-Werror all-warnings -Xcompiler -Werror) $(QUICK)

# --- NetCDF and zlib: without them the programs cannot be linked; kernels, their tests and benchmarks can. METIS: on request ---
NC_CONFIG := $(shell command -v nc-config)
ZLIB      := $(shell $(CC) -E -include zlib.h -x c -o /dev/null /dev/null 2>/dev/null && echo -lz)
METIS     := $(shell $(CC) -E -include metis.h -x c -o /dev/null /dev/null 2>/dev/null && echo -lmetis)
LEFT_OUT  := %/$(if $(METIS),sem3d_metis_none,sem3d_metis).c $(if $(NC_CONFIG),,%/fio_nc.c) $(if $(ZLIB),,%/files.c %/fio_layout.c %/crc32.c %/sealed.c)

# Folders of C and of tests: files find each other by their names alone, which are unique.
ROOMS_C := $(sort $(shell find cuda_c -type d))
ROOMS_T := $(sort $(filter-out tests/fuzz/%,$(shell find tests -type d)))

# --- what is built how -------------------------------------------------------------------------------------------
ifdef DEBUG
  B        := build/debug
  SANITIZE := -fsanitize=address,undefined -fno-omit-frame-pointer
  OPT      := -O1 -g $(SANITIZE)
  FCHECK   := -fcheck=all,no-array-temps -ffpe-trap=invalid,zero,overflow
  # Open MPI unloads its plug-ins before leaks are looked for; this object keeps them, so that leaks have names.
  KEEP     := $(B)/tests/support/keep_plugins.o
  LDLIBS   := -rdynamic
else ifeq ($(FUZZ),fast)
  # a few times as many inputs a second: what overflows, is out of bounds or converted out of range still traps
  B        := build/fuzz-fast
  OPT      := -O2 -g1 -fsanitize=bounds,signed-integer-overflow,float-cast-overflow -fsanitize-undefined-trap-on-error
  COVER    := -fsanitize-coverage=trace-pc
  FCHECK   := -fcheck=bounds,mem,pointer -ffpe-trap=invalid,zero,overflow
  LDLIBS   := -rdynamic
else ifdef FUZZ
  B        := build/fuzz
  SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
  OPT      := -O1 -g $(SANITIZE)
  COVER    := -fsanitize-coverage=trace-pc,trace-cmp
  FCHECK   := -fcheck=all,no-array-temps -ffpe-trap=invalid,zero,overflow
  LDLIBS   := -rdynamic
else
  B        := $(if $(CUDA),build/gpu,build/cpu)
  # lines of sources for backtraces; names of variables too take a third of the time that unrolled kernels take to compile
  OPT      := -O3 -g1
  # rooms that read, deal and write compute little: they take three fifths as long to compile
  OPT_HOST := -O1
  # what a test does itself is little: what tests share takes half as long to compile, claims in Fortran a third
  OPT_TEST := -O1
  OPT_CLAIM := -O0
  # gold links a test in half of the time
  LD_TEST  := $(if $(CUDA),,$(if $(shell command -v ld.gold),-fuse-ld=gold))
endif
HOST     := $(addprefix fortran/,parameters/% files/% ranks/% worker/% master/% program/%)
FATAL    := $(if $(or $(CI),$(WERROR)),-Werror)
# gfortran 14 takes the bounds of unallocated components for used, and uninitialized.
FALSE_14 := $(if $(filter-out 9 10 11 12 13,$(shell $(FC) -dumpversion 2>/dev/null)),-Wno-uninitialized)
FFLAGS   := -std=f2018 -Wall -Wextra -Wimplicit-interface -Wno-compare-reals -Wno-unused-dummy-argument $(FALSE_14) \
            -Wno-maybe-uninitialized -Wno-do-subscript -ffree-line-length-none -fopenmp $(FATAL) $(OPT) $(FCHECK)
CFLAGS   := -std=gnu11 -Wall -Wextra -Wstrict-prototypes -Wvla -fopenmp $(FATAL) $(OPT) \
            $(if $(CUDA),-DSPL_CUDA) $(addprefix -I,$(ROOMS_C) $(ROOMS_T)) -I$(B) $(if $(NC_CONFIG),$(shell nc-config --cflags))
# Tests that compute much themselves, whole solvers, which tests compare with, and one that they run.
FFLAGS_t305_model_cells   = -O1
FFLAGS_t804_sem_time_step = -O1
FFLAGS_fddouble   = -O3
FFLAGS_fd3ddouble = -O3
FFLAGS_tube = -O3
# Products and sums contracted here and not there would round differently; where it pays the code says so itself.
# Roots that set errno, and divisions that may trap, keep loops from vectors.
CFLAGS_mixed_rows       = -ffp-contract=off -fno-math-errno -fno-trapping-math
# Unrolled kernels: with sanitizers gcc takes many minutes for each.
CFLAGS_fd3d_cpu_generic = -ffp-contract=off
CFLAGS_fd3d_cpu_avx2    = -ffp-contract=off -fno-sanitize=all
CFLAGS_fd3d_cpu_avx512  = -ffp-contract=off -fno-sanitize=all
CFLAGS_sem3d_cpu_generic = -fno-sanitize=all
CFLAGS_sem3d_cpu_avx2    = -fno-sanitize=all
CFLAGS_sem3d_cpu_avx512  = -fno-sanitize=all
LDLIBS   += $(if $(NC_CONFIG),$(shell nc-config --libs)) $(ZLIB) $(METIS) -lm \
            $(if $(CUDA),-L$(CUDA_LIB) -lcudart_static -ldl -lrt -lpthread -lstdc++)

# Fuzzing: whose ways tell nothing of what was read, and are gone by thousands of times an input.
NUMERICS := fd2d% fd3d% sem3d% handle% cpu_frame sweep der exact_acoustic hash checksum kaiser sinc sort near% layers_% floor_exact floor_grid \
            floor_terms radial_derivatives pml resample time_step time_dispersion timeloop% wavelet

IFACE  := $(wildcard interfaces/*.f90)
FSRC   := $(filter-out $(PROGRAMS:%=fortran/%.f90),$(sort $(shell find fortran -name '*.f90'))) $(IFACE)
CSRC   := $(filter-out $(LEFT_OUT) $(if $(CUDA),%/device_none.c),$(sort $(shell find cuda_c -name '*.c')))
CUSRC  := $(if $(CUDA),$(sort $(shell find cuda_c -name '*.cu')))
OBJ    := $(FSRC:%.f90=$(B)/%.o) $(CSRC:%.c=$(B)/%.o) $(CUSRC:%.cu=$(B)/%.o)
LIB    := $(B)/libspl.a
BIN    := $(patsubst fortran/%.f90,$(B)/bin/%,$(wildcard $(PROGRAMS:%=fortran/%.f90)))
TESTED := $(basename $(wildcard $(foreach d,$(ROOMS_T),$d/t[0-9]*.f90 $d/t[0-9]*.c)))
HELPS  := $(filter-out $(TESTED:%=%.f90),$(wildcard $(ROOMS_T:%=%/*.f90)))
TESTS  := $(addprefix $(B)/tests/,$(notdir $(TESTED)))
GPU_TESTS := t240 t241 t242 t243 t244 t246 t252 t266 t432 t433 t437 t670 t671 t672 t673 t674 t675 t676 t677 t678 t679 t871 t872 t873 t874 t875 t876 t877
GPU_FAULT := $(if $(CUDA),$(B)/tests/gpufault.so)
CPU_BENCH := $(addprefix $(B)/bench/,fd2d_bench fd3d_bench fd3d_pieces_bench sem3d_bench frame_bench frame_ceiling)
RANKS_BENCH := $(B)/bench/fd3d_scaling $(B)/bench/sem3d_scaling
GPU_BENCH := $(if $(CUDA),$(B)/bench/fd2d_bench_gpu $(B)/bench/fd3d_bench_gpu $(B)/bench/fd3d_ladder_gpu \
             $(B)/bench/fd3d_group_bench $(B)/bench/sem3d_bench_gpu)

.PHONY: all demo demo3d demosem test test-gpu soak bench bench-gpu bench-scaling fuzz lint help install deb clean
.PHONY: programs tests gpu-tests benches gpu-bench show-demo show-demo3d show-demosem run-bench run-scaling
GOALS := $(or $(MAKECMDGOALS),all)

# --- what a user calls: set-up first, then the work in a make that sees what set-up installed ---------------------------
BUILD_IS := $(if $(CUDA),CPU and GPU build ($(ARCHS)),CPU build $(if $(NVCC),as asked for,(no nvcc found)))

# A text of a user as one word of a shell.
quoted = '$(subst ','\'',$1)'

# A machine with a GPU and compilers need not have all that set-up would install.
COMPILERS := { command -v $(firstword $(FC)) && command -v $(firstword $(CC)); } >/dev/null || tools/setup build

all:      ## build the programs
	@tools/setup build
	@echo "$(BUILD_IS)"
	@$(MAKE) --no-print-directory programs
demo:     ## model a small marine survey on 3 processes and draw it: demo.png
	@tools/setup demo
	@echo "$(BUILD_IS)"
	@$(MAKE) --no-print-directory programs
	@$(MAKE) --no-print-directory show-demo
demo3d:   ## model an earthquake under a 3D basin and draw it, in build/demo3d (RANKS=4: on a group of four ranks)
	@tools/setup demo
	@echo "$(BUILD_IS)"
	@$(MAKE) --no-print-directory programs
	@$(MAKE) --no-print-directory show-demo3d
demosem:  ## model a hill over a basin with a lake by spectral elements, and by finite differences beside them, in build/demosem
	@tools/setup demo
	@echo "$(BUILD_IS)"
	@$(MAKE) --no-print-directory programs
	@$(MAKE) --no-print-directory show-demosem
test:     ## build and run every test (TEST=pattern for some)
	@tools/setup test
	@echo "$(BUILD_IS)"
	@$(MAKE) --no-print-directory tests
	@B='$(CURDIR)/$(B)' tests/run $(TEST)
test-gpu: ## build and run the tests of the GPU kernels; needs no NetCDF (NEED_GPU=1: no GPU is a failure)
	@$(COMPILERS)
	@echo "$(BUILD_IS)"
	@$(MAKE) --no-print-directory gpu-tests
	@JOBS=1 TEST_LIMIT=$${TEST_LIMIT:-400} B='$(CURDIR)/$(B)' tests/run $(or $(TEST),$(GPU_TESTS))
soak:     ## a survey of 200 shots in bad weather: kills, stalls, torn journals, full disks; a minute of fuzzing; minutes (SOAK="--seed 7")
	@tools/setup test
	@$(MAKE) --no-print-directory programs
	@rm -rf '$(B)/soak' && mkdir -p '$(B)/soak'
	@cd '$(B)/soak' && B='$(CURDIR)/$(B)' "$${PYTHON:-$$('$(CURDIR)/tools/setup' python)}" '$(CURDIR)/tests/failures/soak.py' $(SOAK)
	@tools/setup fuzz
	@$(MAKE) --no-print-directory FUZZ=1 build/fuzz/fuzz
	@tests/fuzz/run build/fuzz 1
bench:    ## measure the kernels against the memory of this machine, and what the framework costs
	@tools/setup build
	@$(MAKE) --no-print-directory run-bench
bench-gpu: ## measure the GPU kernels against the memory of the GPU; needs no NetCDF (BENCH=--quick: two minutes)
	@$(COMPILERS)
	@$(MAKE) --no-print-directory gpu-bench
	@tools/bench/run-gpu '$(B)' '$(BUILD_IS)' $(BENCH)
bench-scaling: ## measure a 3D shot on several ranks beside a model's forecast (SCALING="cpu 128" for variant and cells)
	@tools/setup build
	@$(MAKE) --no-print-directory run-scaling
fuzz:     ## look for inputs that break the readers of files and messages (MINUTES=10 in all, READERS="keymap raw" for some)
	@tools/setup fuzz
	@$(MAKE) --no-print-directory FUZZ=1 build/fuzz/fuzz
	@$(MAKE) --no-print-directory FUZZ=fast build/fuzz-fast/fuzz
	@tests/fuzz/run build/fuzz $(or $(MINUTES),10) $(READERS)
lint:     ## formatting and the rules of the house
	@tools/setup lint
	@tools/build/lint
help:     ## this list
	@awk -F'## ' '/^[a-z0-9-]+: +## / { sub(/:.*/, "", $$1); printf "  make %-13s %s\n", $$1, $$2 }' Makefile
install:  ## install programs and tools below PREFIX (default /usr/local)
	@tools/setup demo
	@$(MAKE) --no-print-directory programs
	@tools/build/install '$(B)' $(call quoted,$(DESTDIR)$(PREFIX)) $(if $(DESTDIR),$(call quoted,$(PREFIX)))
deb:      ## make a Debian package of programs and tools, in build/package
	@tools/setup demo
	@$(MAKE) --no-print-directory programs
	@tools/package/deb '$(B)'

programs: $(BIN)
tests: $(BIN) $(TESTS) $(GPU_FAULT)
gpu-tests: $(foreach t,$(GPU_TESTS),$(filter $(B)/tests/$t%,$(TESTS))) $(if $(NC_CONFIG),$(BIN)) $(GPU_FAULT)
benches: $(CPU_BENCH) $(RANKS_BENCH) $(GPU_BENCH)
gpu-bench: $(GPU_BENCH)
	@:
show-demo: $(BIN)
	@tools/demo '$(B)'
show-demo3d: $(BIN)
	@tools/demo3d '$(B)'
show-demosem: $(BIN)
	@tools/demosem '$(B)'
run-bench: $(CPU_BENCH) $(BIN)
	@tools/bench/run '$(B)'
	@cd '$(B)' && '$(CURDIR)/tools/bench/run-frame' .
run-scaling: $(RANKS_BENCH)
	@tools/bench/run-scaling '$(B)' '$(BUILD_IS)' $(SCALING)

# --- the treaty between Fortran and C: the compiler prints the C header of the interface modules ---------------------
# Since gfortran 15 arguments are arrays of a size there, which gcc compares with the definitions: pointers, as earlier ones have it.
$(B)/iface.h: $(IFACE)
	@mkdir -p $(B)/proto
	@{ echo '#pragma once'; for f in $(IFACE); do $(FC) -J$(B)/proto -fc-prototypes -fsyntax-only $$f || exit 1; done; } \
	  | sed 's/ ();/ (void);/; s/)()/)(void)/; /(/s/\([a-z_0-9]*\)\[[0-9]*\]/*\1/g' > $@.tmp
	@mv $@.tmp $@

# --- version and commit, for the record in every output file; the version has its one place in tools/spltools ------------
VERSION := $(shell sed -n "s/^__version__ = '\([^']*\)'.*/\1/p" tools/spltools/__init__.py)
# Who may run this makefile may trust its folder, whoever owns that: root installs what a user has built, and the other way round.
COMMIT := $(shell git -c safe.directory='*' -C . describe --always --dirty 2>/dev/null || echo unknown)
# Where nothing has changed nothing is written, so that others can install from a folder in which they may not write.
$(B)/commit.inc: FORCE
	@mkdir -p $(@D)
	@now=$$(printf "character(*), parameter :: %s = '%s'\n" VERSION '$(VERSION)' COMMIT '$(COMMIT)'); \
	  [[ $$now == "$$(cat $@ 2>/dev/null)" ]] || echo "$$now" > $@
FORCE:
$(B)/fortran/base/version_texts.o: $(B)/commit.inc

# --- compiling -------------------------------------------------------------------------------------------------------
$(B)/deps.mk: $(sort $(FSRC) $(PROGRAMS:%=fortran/%.f90) $(wildcard $(ROOMS_T:%=%/*.f90) tools/bench/*.f90)) tools/build/fortran-deps
	@mkdir -p $(@D)
	@awk -f tools/build/fortran-deps -v b=$(B) $(filter %.f90,$^) > $@
ifneq ($(filter programs tests gpu-tests benches gpu-bench show-demo show-demo3d show-demosem run-bench run-scaling $(B)/%,$(GOALS)),)
-include $(B)/deps.mk
-include $(wildcard $(patsubst %,$(B)/%/*.d,$(ROOMS_C) $(ROOMS_T) tools/bench tools/bench/ladder))
endif

$(B)/%.o: %.f90
	@mkdir -p $(@D) $(B)/mod
	@echo '  fortran  $<'
	@$(FC) $(FFLAGS) $(if $(filter tests/%,$<),$(if $(filter $*,$(TESTED)),$(OPT_CLAIM),$(OPT_TEST))) \
	  $(if $(filter $(HOST),$<),$(OPT_HOST)) $(FFLAGS_$(notdir $*)) $(if $(filter $(NUMERICS),$(notdir $*)),,$(COVER)) -J$(B)/mod -I$(B) -c -o $@ $<

$(B)/%.o: %.c $(B)/iface.h
	@mkdir -p $(@D)
	@echo '  c        $<'
	@$(CC) $(CFLAGS) $(if $(filter tests/%,$<),$(OPT_TEST)) $(CFLAGS_$(notdir $*)) $(if $(filter $(NUMERICS),$(notdir $*)),,$(COVER)) -MMD -MP -c -o $@ $<

# How kernels are compiled: for another GPU or with other flags they are compiled again.
NVCC_CALL := $(strip $(NVCC) $(NVFLAGS))
ifneq ($(if $(CUDA),$(shell cat $(B)/nvcc.txt 2>/dev/null)),$(if $(CUDA),$(NVCC_CALL)))
$(B)/nvcc.txt: FORCE
endif
$(B)/nvcc.txt:
	@mkdir -p $(@D)
	@echo '$(NVCC_CALL)' > $@

# A checksum of all that the kernels are made of: what was measured of them is known by it (fd2d_tuned_cache.cu).
$(B)/kernels.h: $(sort $(foreach d,$(ROOMS_C),$(wildcard $d/*.cu $d/*.cuh $d/*.h))) $(B)/nvcc.txt
	@mkdir -p $(@D)
	@{ echo '$(NVCC_CALL)'; $(NVCC) --version; cat $(filter-out $(B)/%,$^); } | sha256sum \
	  | sed 's/^\(.\{16\}\).*/#define SPL_KERNELS "\1"/' > $@.tmp
	@mv $@.tmp $@
$(B)/cuda_c/acoustic2d/tuned/fd2d_tuned_cache.o: $(B)/kernels.h

$(B)/%.o: %.cu $(B)/iface.h $(B)/nvcc.txt
	@mkdir -p $(@D)
	@echo '  cuda     $<'
	@$(NVCC) $(NVFLAGS) -Xptxas -v $(ROOMS_C:%=-I%) -I$(B) -MD -MP -MF $(@:.o=.d) -c -o $@ $< 2> $(@:.o=.ptxas) \
	  || { cat $(@:.o=.ptxas) >&2; exit 1; }
	@grep -Ev '^ptxas info|bytes stack frame' $(@:.o=.ptxas) >&2 || true

$(LIB): $(OBJ)
	@rm -f $@
	@ar rcs $@ $^

define LINK
@mkdir -p $(@D)
@echo '  link     $@'
@$(FC) $(FFLAGS) $(if $(filter $(B)/tests/%,$@),$(LD_TEST)) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LDLIBS)
endef

$(B)/bin/%: $(B)/fortran/%.o $(KEEP) $(LIB)
	$(LINK)

# What a test does not use it does not link: kernel tests then need no NetCDF.
$(B)/tests/libhelp.a: $(HELPS:%.f90=$(B)/%.o)
	@rm -f $@
	@ar rcs $@ $^

$(foreach t,$(TESTED),$(eval $(B)/tests/$(notdir $t): $(B)/$t.o))
$(TESTS): $(KEEP) $(B)/tests/libhelp.a $(LIB)
	$(LINK)

# Jobs under test have it preloaded.
$(B)/tests/gpufault.so: tests/faulty_machine/gpufault.c
	@mkdir -p $(@D)
	@echo '  link     $@'
	@$(CC) $(CFLAGS) -shared -fPIC -o $@ $< -ldl

# libFuzzer comes with clang; what it is to look into is compiled by gcc and gfortran.
LIBFUZZER = $(shell clang -print-file-name=libclang_rt.fuzzer-$(shell uname -m).a 2>/dev/null)
$(B)/fuzz: $(B)/tests/fuzz/fuzz.o $(B)/tests/libhelp.a $(LIB)
	@echo '  link     $@'
	@$(FC) $(FFLAGS) -o $@ $^ -Wl,--wrap=__sanitizer_cov_trace_pc $(LIBFUZZER) $(LDLIBS) -lstdc++

$(B)/bench/frame_bench: $(B)/tools/bench/nothing.o $(B)/tests/physics/tube.o $(KEEP)
$(RANKS_BENCH) $(B)/bench/fd3d_pieces_bench: $(B)/tools/bench/bench_median.o
$(B)/bench/%: $(B)/tools/bench/%.o $(LIB)
	$(LINK)
$(B)/bench/%: $(B)/tools/bench/ladder/%.o $(LIB)
	$(LINK)

.PRECIOUS: $(B)/%.o

clean:    ## remove all that was built
	rm -rf build
