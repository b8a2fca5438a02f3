!> Every time loop in C has these, whatever its physics: kernel variants by name, and the verbs of a handle. A physics adds those
!> for its grid, medium, source, receivers and fields in an interface of its own, as fd2d_c.f90 and fd3d_c.f90 do.
!>
!> Procedures return 0, or 1 with a sentence in err_message, where nothing else is said. Steps count from 1, cells from 0.
module handle_c
  use iso_c_binding, only: c_char, c_float, c_int, c_long_long, c_ptr
  implicit none
  private
  public :: variants_count, variants_name, variants_about, variants_needs_gpu, variants_built
  public :: handle_free, handle_receiver_parts, handle_expect, handle_timestep, handle_pending, handle_traces, handle_maxabs
  public :: handle_peak, handle_reset, handle_state_size, handle_save, handle_load, handle_bytes, handle_device, handle_threads
  public :: trace_band, handle_filters, handle_filter, handle_filtered

  !> A matrix of few columns a row, which turns samples into fewer samples: y = m (gain x). Rows stand in groups of four that share
  !> their columns: row 4 g + j of group g is m(j, at(g)) .. m(j, at(g) + count(g) - 1), all from 0, and begins at column first(g).
  !> Columns before 0 or beyond the last are of samples that are 0. Groups may have the same numbers.
  type, bind(c) :: trace_band
    integer(c_int) :: columns, rows                   !< samples in, samples out
    integer(c_int) :: groups                          !< of rows: (rows + 3) / 4
    integer(c_int) :: n                               !< numbers of a row in m
    type(c_ptr) :: gain                               !< (columns) float, or null: 1
    type(c_ptr) :: first, count, at                   !< (groups) int
    type(c_ptr) :: m                                  !< (4, n) float
  end type trace_band

  ! --- variants of a solver, which fd2d_solver and the like tell; of a null one there are none

  interface
    !> The number of kernel variants.
    integer(c_int) function variants_count(solver) bind(c)
      import :: c_int, c_ptr
      implicit none
      type(c_ptr), value :: solver
    end function variants_count

    !> Name of variant n = 0..count-1 as a null-terminated text of at most `length` characters.
    integer(c_int) function variants_name(solver, n, length, text) bind(c)
      import :: c_int, c_char, c_ptr
      implicit none
      type(c_ptr), value :: solver
      integer(c_int), value :: n, length
      character(kind=c_char), intent(out) :: text(*)
    end function variants_name

    !> One line on variant n.
    integer(c_int) function variants_about(solver, n, length, text) bind(c)
      import :: c_int, c_char, c_ptr
      implicit none
      type(c_ptr), value :: solver
      integer(c_int), value :: n, length
      character(kind=c_char), intent(out) :: text(*)
    end function variants_about

    !> 1 if variant n runs on a GPU.
    integer(c_int) function variants_needs_gpu(solver, n) bind(c)
      import :: c_int, c_ptr
      implicit none
      type(c_ptr), value :: solver
      integer(c_int), value :: n
    end function variants_needs_gpu

    !> 1 if variant n is in this build: one made without CUDA knows the GPU variants by name only.
    integer(c_int) function variants_built(solver, n) bind(c)
      import :: c_int, c_ptr
      implicit none
      type(c_ptr), value :: solver
      integer(c_int), value :: n
    end function variants_built
  end interface

  ! --- verbs of a handle

  interface
    !> Gives all memory back; a null handle is harmless.
    subroutine handle_free(handle) bind(c)
      import :: c_ptr
      implicit none
      type(c_ptr), value :: handle
    end subroutine handle_free

    !> Steps it .. it+n-1 of the whole grid. it must follow the last step done, except after new, handle_reset and where a field was
    !> set. The result does not depend on how a run is cut into chunks; short chunks are slower. On a GPU the steps are only queued;
    !> a call for results waits for them.
    integer(c_int) function handle_timestep(handle, it, n) bind(c)
      import :: c_ptr, c_int
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: it, n
    end function handle_timestep

    !> Waits, asleep, until at most `most` calls of handle_timestep are unfinished. On a CPU none ever is.
    integer(c_int) function handle_pending(handle, most) bind(c)
      import :: c_ptr, c_int
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: most
    end function handle_pending

    !> After the receivers were set, part(nrec): receiver r keeps part(r) of its sum: 0 the sum as a float; 1, 2, 3 numbers that
    !> times 2**-40, 2**-64, 2**-88 add up to it (cuda_c/handle/receiver_sum.h). So the cells of a receiver may lie in several
    !> pieces: these parts of all of them, added without error, round to the bits that one piece with all cells would give. Never
    !> called: part 0.
    integer(c_int) function handle_receiver_parts(handle, part) bind(c)
      import :: c_ptr, c_int
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), intent(in) :: part(*)
    end function handle_receiver_parts

    !> There will be traces of so many steps: room for them is taken at once. 0: not known, room grows as steps are asked for.
    integer(c_int) function handle_expect(handle, steps) bind(c)
      import :: c_ptr, c_int
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: steps
    end function handle_expect

    !> The samples of steps it .. it+n-1, all done since the receivers were set or handle_reset, as out(n,nrec).
    integer(c_int) function handle_traces(handle, it, n, out) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: it, n
      real(c_float), intent(out) :: out(*)
    end function handle_traces

    !> 1 if the variant filters traces itself, where they are.
    integer(c_int) function handle_filters(handle) bind(c)
      import :: c_ptr, c_int
      implicit none
      type(c_ptr), value :: handle
    end function handle_filters

    !> Filter `which` (0 or 1) of the handle from now on: samples of all steps -> band(1) -> band(2). It is copied.
    integer(c_int) function handle_filter(handle, which, band) bind(c)
      import :: c_ptr, c_int, trace_band
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: which
      type(trace_band), intent(in) :: band(2)
    end function handle_filter

    !> The samples of all steps as of handle_traces, as many as the filter `which` has columns, of receivers first .. first+nrec-1
    !> (from 0), filtered: out(rows of band(2), nrec). Sums in double, rounded to float after each band.
    integer(c_int) function handle_filtered(handle, which, first, nrec, out) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: which, first, nrec
      real(c_float), intent(out) :: out(*)
    end function handle_filtered

    !> The largest |value| of the fields by which a blow-up is told (2D: sigma; 3D: vx, vy, vz) and its cell along x, y, z, 0 along
    !> an axis that there is not; infinite if any of them is infinite or not a number.
    integer(c_int) function handle_maxabs(handle, value, place) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      real(c_float), intent(out) :: value
      integer(c_int), intent(out) :: place(3)
    end function handle_maxabs

    !> As handle_maxabs, without waiting: at the end of the newest call of handle_timestep that is finished; 0 if none is.
    integer(c_int) function handle_peak(handle, value, place) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      real(c_float), intent(out) :: value
      integer(c_int), intent(out) :: place(3)
    end function handle_peak

    !> All fields and memory variables zero, traces forgotten (3D: map and histories too): ready for the next shot in the same
    !> medium.
    integer(c_int) function handle_reset(handle) bind(c)
      import :: c_ptr, c_int
      implicit none
      type(c_ptr), value :: handle
    end function handle_reset

    !> Numbers in the state after so many steps since handle_reset: all that later steps depend on (halos too), map and traces; -1
    !> on failure. Histories that come in blocks are no part of it: the block for the next step is given anew after handle_load.
    integer(c_long_long) function handle_state_size(handle, steps) bind(c)
      import :: c_ptr, c_int, c_long_long
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: steps
    end function handle_state_size

    !> Waits for all steps asked for, and copies the state they leave: state(n), n as handle_state_size says.
    integer(c_int) function handle_save(handle, n, state) bind(c)
      import :: c_ptr, c_int, c_long_long, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_long_long), value :: n
      real(c_float), intent(out) :: state(*)
    end function handle_save

    !> Loads a state, into a handle of the same variant and grid with the same medium, layers, source and receivers, in this process
    !> or another: the state after steps first .. first+steps-1. The steps that follow give the same bits as without interruption.
    integer(c_int) function handle_load(handle, first, steps, n, state) bind(c)
      import :: c_ptr, c_int, c_long_long, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: first, steps
      integer(c_long_long), value :: n
      real(c_float), intent(in) :: state(*)
    end function handle_load

    !> Memory held by the handle [bytes]; 0 for a null handle.
    integer(c_long_long) function handle_bytes(handle) bind(c)
      import :: c_ptr, c_long_long
      implicit none
      type(c_ptr), value :: handle
    end function handle_bytes

    !> Names the processor for the record: e.g. "AVX-512, 2 threads", null-terminated, at most `length` characters.
    integer(c_int) function handle_device(handle, length, text) bind(c)
      import :: c_ptr, c_int, c_char
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: length
      character(kind=c_char), intent(out) :: text(*)
    end function handle_device

    !> From now on so many threads compute, at least 1; where CPU cores do. Changes speed, never results.
    integer(c_int) function handle_threads(handle, threads) bind(c)
      import :: c_ptr, c_int
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: threads
    end function handle_threads
  end interface
end module handle_c
