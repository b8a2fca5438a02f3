# The only makefile. `make help` tells the targets; `make DEBUG=1 ...` builds with every run-time check in build/debug.

VERSION := 0.1.0
PREFIX  ?= /usr/local
SHELL   := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all
MAKEFLAGS += --no-builtin-rules

FC := mpifort
CC := gcc
PROGRAMS := SplFd2dmod

# --- what is built how -------------------------------------------------------------------------------------------
ifdef DEBUG
  B        := build/debug
  SANITIZE := -fsanitize=address,undefined -fno-omit-frame-pointer
  OPT      := -O1 -g $(SANITIZE)
  FCHECK   := -fcheck=all -ffpe-trap=invalid,zero,overflow
else
  B        := build/cpu
  OPT      := -O3 -g
endif
FATAL    := $(if $(or $(CI),$(WERROR)),-Werror)
FFLAGS   := -std=f2018 -Wall -Wextra -Wimplicit-interface -Wno-compare-reals -Wno-unused-dummy-argument \
            -Wno-maybe-uninitialized -Wno-do-subscript -ffree-line-length-none -fopenmp $(FATAL) $(OPT) $(FCHECK)
CFLAGS   := -std=gnu11 -Wall -Wextra -Wstrict-prototypes -Wvla -fopenmp $(FATAL) $(OPT) \
            -Icuda_c -I$(B) $(shell nc-config --cflags 2>/dev/null)
LDLIBS   := $(shell nc-config --libs 2>/dev/null || echo -lnetcdf) -lz -lm

IFACE  := $(wildcard interfaces/*.f90)
FSRC   := $(filter-out $(PROGRAMS:%=fortran/%.f90),$(wildcard fortran/*.f90)) $(IFACE)
CSRC   := $(wildcard cuda_c/*.c)
OBJ    := $(FSRC:%.f90=$(B)/%.o) $(CSRC:%.c=$(B)/%.o)
LIB    := $(B)/libspl.a
BIN    := $(patsubst fortran/%.f90,$(B)/bin/%,$(wildcard $(PROGRAMS:%=fortran/%.f90)))
FTESTS := $(patsubst tests/%.f90,$(B)/tests/%,$(wildcard tests/t*.f90))
CTESTS := $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/t*.c))

.PHONY: all tests help clean
all: $(BIN)
tests: $(BIN) $(FTESTS) $(CTESTS)

# --- the treaty between Fortran and C: the compiler prints the C header of the interface modules ---------------------
$(B)/iface.h: $(IFACE)
	@mkdir -p $(B)/proto
	@{ echo '#pragma once'; for f in $(IFACE); do $(FC) -J$(B)/proto -fc-prototypes -fsyntax-only $$f || exit 1; done; } \
	  | sed 's/ ();/ (void);/' > $@.tmp
	@mv $@.tmp $@

# --- compiling -------------------------------------------------------------------------------------------------------
$(B)/deps.mk: $(sort $(FSRC) $(wildcard fortran/*.f90 tests/*.f90)) tools/fortran-deps
	@mkdir -p $(@D)
	@awk -f tools/fortran-deps -v b=$(B) $(filter %.f90,$^) > $@
ifeq ($(filter clean help,$(MAKECMDGOALS)),)
-include $(B)/deps.mk
-include $(wildcard $(B)/cuda_c/*.d)
endif

$(B)/%.o: %.f90
	@mkdir -p $(@D) $(B)/mod
	$(FC) $(FFLAGS) $(FFLAGS_$(notdir $*)) -J$(B)/mod -c -o $@ $<

$(B)/%.o: %.c $(B)/iface.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CFLAGS_$(notdir $*)) -MMD -MP -c -o $@ $<

$(LIB): $(OBJ)
	@rm -f $@
	ar rcs $@ $^

$(B)/bin/%: $(B)/fortran/%.o $(LIB)
	@mkdir -p $(@D)
	$(FC) $(FFLAGS) -o $@ $^ $(LDLIBS)

$(B)/tests/t%: $(B)/tests/t%.o $(B)/tests/check.o $(LIB)
	$(FC) $(FFLAGS) -o $@ $^ $(LDLIBS)

.PRECIOUS: $(B)/%.o

clean:
	rm -rf build
