!> The 2D acoustic time loop in C: one handle a grid, six verbs a shot (new, model, source, receivers, timestep, traces).
!>
!>    sigma---vx--sigma---vx--sigma    sigma(i,k) at (i,    k   )    sigma = -pressure, at whole time steps
!>      |           |           |      vx(i,k)    at (i+1/2,k   )    velocities at half time steps
!>      vz          vz          vz     vz(i,k)    at (i,    k+1/2)   x runs fastest; indices here count from 0
!>
!> Procedures return 0, or 1 with a sentence in err_message.
module fd2d_c
  use iso_c_binding, only: c_ptr, c_int, c_long, c_long_long, c_float, c_char, c_null_char
  implicit none
  private
  public :: fd2d_cfg, fd2d_variant_count, fd2d_variant_name, fd2d_variant_about, fd2d_variant_needs_gpu, fd2d_variant_built
  public :: fd2d_new, fd2d_free, fd2d_model, fd2d_pml, fd2d_source, fd2d_receivers, fd2d_timestep, fd2d_traces
  public :: fd2d_field, fd2d_set_field, fd2d_maxabs, fd2d_reset, fd2d_bytes, fd2d_device, fd2d_threads, fd2d_tune
  public :: fd2d_pending, fd2d_peak, fd2d_need
  public :: fd2d_state_size, fd2d_save, fd2d_load
  public :: trace_band, fd2d_filters, fd2d_filter, fd2d_filtered

  !> A grid. dx, dz [m], dt [s]; w(1:half_length) weights of the differentiators.
  type, bind(c) :: fd2d_cfg
    integer(c_int) :: nx, nz                          !< whole grid, layers included
    integer(c_int) :: half_length                     !< 1..8
    integer(c_int) :: nleft, nright, ntop, nbottom    !< widths of the absorbing layers [cells], 0 = none
    integer(c_int) :: free_top                        !< 1: row 0 is a free surface (then ntop = 0)
    integer(c_int) :: threads                         !< 0: as many as OpenMP gives
    integer(c_int) :: velocities                      !< 1: vx, vz will be recorded or asked for; `tuned` keeps them only then
    integer(c_int) :: share                           !< handles that compute on this GPU side by side; 0 or 1: this alone
    real(c_float) :: dx, dz, dt
    real(c_float) :: w(8)
    character(kind=c_char) :: shape(16) = c_null_char !< of the blocks of `tuned`, null-terminated; empty: it chooses
  end type fd2d_cfg

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

  interface
    !> The number of kernel variants.
    integer(c_int) function fd2d_variant_count() bind(c)
      import :: c_int
      implicit none
    end function fd2d_variant_count

    !> Name of variant n = 0..count-1 as a null-terminated text of at most `length` characters.
    integer(c_int) function fd2d_variant_name(n, length, text) bind(c)
      import :: c_int, c_char
      implicit none
      integer(c_int), value :: n, length
      character(kind=c_char), intent(out) :: text(*)
    end function fd2d_variant_name

    !> One line on variant n.
    integer(c_int) function fd2d_variant_about(n, length, text) bind(c)
      import :: c_int, c_char
      implicit none
      integer(c_int), value :: n, length
      character(kind=c_char), intent(out) :: text(*)
    end function fd2d_variant_about

    !> 1 if variant n runs on a GPU.
    integer(c_int) function fd2d_variant_needs_gpu(n) bind(c)
      import :: c_int
      implicit none
      integer(c_int), value :: n
    end function fd2d_variant_needs_gpu

    !> 1 if variant n is in this build: one made without CUDA knows the GPU variants by name only.
    integer(c_int) function fd2d_variant_built(n) bind(c)
      import :: c_int
      implicit none
      integer(c_int), value :: n
    end function fd2d_variant_built

    !> A handle, or null. `variant`: null-terminated name.
    type(c_ptr) function fd2d_new(variant, cfg) bind(c)
      import :: c_ptr, c_char, fd2d_cfg
      implicit none
      character(kind=c_char), intent(in) :: variant(*)
      type(fd2d_cfg), intent(in) :: cfg
    end function fd2d_new

    !> Gives all memory back; a null handle is harmless.
    subroutine fd2d_free(handle) bind(c)
      import :: c_ptr
      implicit none
      type(c_ptr), value :: handle
    end subroutine fd2d_free

    !> The medium: kappa(nx,nz) [Pa], rho(nx,nz) [kg/m3] at the sigma points. Buoyancies at the velocity points are one
    !> over the arithmetic mean of the two neighbours' rho; at the last column and row the neighbour outside is the edge.
    integer(c_int) function fd2d_model(handle, kappa, rho) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      real(c_float), intent(in) :: kappa(*), rho(*)
    end function fd2d_model

    !> Absorbing layers: px(nx,6), pz(nz,6), columns a, b, 1/k at integer points, then a, b, 1/k at half points i+1/2.
    !> psi = b psi + a d, d becomes d/k + psi. Outside the layers (half points of the right and lower layer begin one index
    !> earlier) a must be 0 and 1/k must be 1.
    integer(c_int) function fd2d_pml(handle, px, pz) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      real(c_float), intent(in) :: px(*), pz(*)
    end function fd2d_pml

    !> After step it (from 1) sigma(i,k) grows by w q(it): q(nt); i(n), k(n) from 0, w(n). q is 0 beyond nt. n = 0: no source.
    !> Weights on a free surface's row 0 have no effect.
    integer(c_int) function fd2d_source(handle, nt, q, n, i, k, w) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: nt, n
      real(c_float), intent(in) :: q(*), w(*)
      integer(c_int), intent(in) :: i(*), k(*)
    end function fd2d_source

    !> Receiver r samples sum(w field(i,k)) over its cells start(r)..start(r+1)-1 (from 0), start(nrec+1); field(nrec):
    !> 0 sigma, 1 vx, 2 vz. Forgets all traces. nrec = 0: none.
    integer(c_int) function fd2d_receivers(handle, nrec, start, field, i, k, w) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: nrec
      integer(c_int), intent(in) :: start(*), field(*), i(*), k(*)
      real(c_float), intent(in) :: w(*)
    end function fd2d_receivers

    !> Steps it .. it+n-1 (from 1), each: velocities to n+1/2, sigma to n+1, source, receivers. it must follow the last step
    !> done, except after new, reset and set_field. The result does not depend on how a run is cut into chunks;
    !> short chunks are slower. On a GPU the steps are only queued; a call for results waits for them.
    integer(c_int) function fd2d_timestep(handle, it, n) bind(c)
      import :: c_ptr, c_int
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: it, n
    end function fd2d_timestep

    !> Waits, asleep, until at most `most` calls of fd2d_timestep are unfinished. On a CPU none ever is.
    integer(c_int) function fd2d_pending(handle, most) bind(c)
      import :: c_ptr, c_int
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: most
    end function fd2d_pending

    !> The samples of steps it .. it+n-1, all done since fd2d_receivers or fd2d_reset, as out(n,nrec).
    integer(c_int) function fd2d_traces(handle, it, n, out) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: it, n
      real(c_float), intent(out) :: out(*)
    end function fd2d_traces

    !> 1 if the variant filters traces itself, where they are.
    integer(c_int) function fd2d_filters(handle) bind(c)
      import :: c_ptr, c_int
      implicit none
      type(c_ptr), value :: handle
    end function fd2d_filters

    !> Filter `which` (0 or 1) of the handle from now on: samples of all steps -> band(1) -> band(2). It is copied.
    integer(c_int) function fd2d_filter(handle, which, band) bind(c)
      import :: c_ptr, c_int, trace_band
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: which
      type(trace_band), intent(in) :: band(2)
    end function fd2d_filter

    !> The samples of all steps since fd2d_receivers or fd2d_reset, as many as the filter `which` has columns, of receivers
    !> first .. first+nrec-1 (from 0), filtered: out(rows of band(2), nrec). Sums in double, rounded to float after each band.
    integer(c_int) function fd2d_filtered(handle, which, first, nrec, out) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: which, first, nrec
      real(c_float), intent(out) :: out(*)
    end function fd2d_filtered

    !> A copy out(nx,nz) of a field: 0 sigma, 1 vx, 2 vz.
    integer(c_int) function fd2d_field(handle, which, out) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: which
      real(c_float), intent(out) :: out(*)
    end function fd2d_field

    !> Sets a field from in(nx,nz).
    integer(c_int) function fd2d_set_field(handle, which, in) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: which
      real(c_float), intent(in) :: in(*)
    end function fd2d_set_field

    !> Largest |sigma| and its cell (from 0); infinite if any sigma is infinite or not a number.
    integer(c_int) function fd2d_maxabs(handle, value, i, k) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      real(c_float), intent(out) :: value
      integer(c_int), intent(out) :: i, k
    end function fd2d_maxabs

    !> As fd2d_maxabs, without waiting: at the end of the newest call of fd2d_timestep that is finished; 0 if none is.
    integer(c_int) function fd2d_peak(handle, value, i, k) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      real(c_float), intent(out) :: value
      integer(c_int), intent(out) :: i, k
    end function fd2d_peak

    !> All fields and memory variables zero, traces forgotten: ready for the next shot in the same medium.
    integer(c_int) function fd2d_reset(handle) bind(c)
      import :: c_ptr, c_int
      implicit none
      type(c_ptr), value :: handle
    end function fd2d_reset

    !> Numbers in the state after so many steps since fd2d_reset: all that later steps depend on, and the traces; -1 on failure.
    integer(c_long_long) function fd2d_state_size(handle, steps) bind(c)
      import :: c_ptr, c_int, c_long_long
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: steps
    end function fd2d_state_size

    !> Waits for all steps asked for, and copies the state they leave: state(n), n as fd2d_state_size says.
    integer(c_int) function fd2d_save(handle, n, state) bind(c)
      import :: c_ptr, c_int, c_long_long, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_long_long), value :: n
      real(c_float), intent(out) :: state(*)
    end function fd2d_save

    !> Loads a state, into a handle of the same variant and grid with the same medium, layers, source and receivers, in this process
    !> or another: the state after steps first .. first+steps-1. The steps that follow give the same bits as without interruption.
    integer(c_int) function fd2d_load(handle, first, steps, n, state) bind(c)
      import :: c_ptr, c_int, c_long_long, c_float
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: first, steps
      integer(c_long_long), value :: n
      real(c_float), intent(in) :: state(*)
    end function fd2d_load

    !> Memory held by the handle [bytes]; 0 for a null handle.
    integer(c_long_long) function fd2d_bytes(handle) bind(c)
      import :: c_ptr, c_long_long
      implicit none
      type(c_ptr), value :: handle
    end function fd2d_bytes

    !> Device memory a handle would take [bytes], with so many receivers and time steps; 0 for a variant on the CPU.
    integer(c_int) function fd2d_need(variant, cfg, receivers, steps, bytes) bind(c)
      import :: c_int, c_char, c_long, fd2d_cfg
      implicit none
      character(kind=c_char), intent(in) :: variant(*)
      type(fd2d_cfg), intent(in) :: cfg
      integer(c_int), value :: receivers, steps
      integer(c_long), intent(out) :: bytes
    end function fd2d_need

    !> Names the processor for the record: e.g. "AVX-512, 2 threads", null-terminated, at most `length` characters.
    integer(c_int) function fd2d_device(handle, length, text) bind(c)
      import :: c_ptr, c_int, c_char
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: length
      character(kind=c_char), intent(out) :: text(*)
    end function fd2d_device

    !> From now on so many threads compute, at least 1; where CPU cores do. Changes speed, never results.
    integer(c_int) function fd2d_threads(handle, threads) bind(c)
      import :: c_ptr, c_int
      implicit none
      type(c_ptr), value :: handle
      integer(c_int), value :: threads
    end function fd2d_threads

    !> For tests and benchmarks; changes speed, never results (save that the build without fused multiply-add rounds twice).
    !> isa: "" = best of this processor, or a name such as "avx2"; width [cells], steps, rows: shape of the time-skewed tiles,
    !> 0 = derived from the cache.
    integer(c_int) function fd2d_tune(handle, isa, width, steps, rows) bind(c)
      import :: c_ptr, c_int, c_char
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: isa(*)
      integer(c_int), value :: width, steps, rows
    end function fd2d_tune
  end interface
end module fd2d_c
