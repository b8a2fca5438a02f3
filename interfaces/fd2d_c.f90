!> The 2D acoustic time loop in C: one handle a grid, with the verbs of handle_c.f90 and those below.
!>
!>    sigma---vx--sigma---vx--sigma    sigma(i,k) at (i,    k   )    sigma = -pressure, at whole time steps
!>      |           |           |      vx(i,k)    at (i+1/2,k   )    velocities at half time steps
!>      vz          vz          vz     vz(i,k)    at (i,    k+1/2)   x runs fastest; indices here count from 0
!>
!> A step takes velocities to n+1/2 and sigma to n+1, then adds the source, then the receivers sample.
!>
!> Procedures return 0, or 1 with a sentence in err_message.
module fd2d_c
  use iso_c_binding, only: c_char, c_float, c_int, c_long, c_null_char, c_ptr
  implicit none
  private
  public :: fd2d_cfg, fd2d_solver, fd2d_new, fd2d_model, fd2d_model_apart, fd2d_pml, fd2d_source, fd2d_receivers, fd2d_field, &
            fd2d_set_field, fd2d_need, fd2d_tune

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
    integer(c_int) :: apart = 0                       !< 1: the medium comes by fd2d_model_apart, 0: by fd2d_model
    integer(c_int) :: steps_a_pass = 0                !< of `tuned`, 1..4; 0: it chooses
  end type fd2d_cfg

  interface
    !> The solver, for its variants.
    type(c_ptr) function fd2d_solver() bind(c)
      import :: c_ptr
      implicit none
    end function fd2d_solver

    !> A handle, or null. `variant`: null-terminated name.
    type(c_ptr) function fd2d_new(variant, cfg) bind(c)
      import :: c_ptr, c_char, fd2d_cfg
      implicit none
      character(kind=c_char), intent(in) :: variant(*)
      type(fd2d_cfg), intent(in) :: cfg
    end function fd2d_new

    !> The medium: kappa(nx,nz) [Pa], rho(nx,nz) [kg/m3] at the sigma points. Buoyancies at the velocity points are one
    !> over the arithmetic mean of the two neighbours' rho; at the last column and row the neighbour outside is the edge.
    integer(c_int) function fd2d_model(handle, kappa, rho) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      real(c_float), intent(in) :: kappa(*), rho(*)
    end function fd2d_model

    !> The medium with densities where they act: kappa(nx,nz) [Pa] at the sigma points, rho_x(nx,nz) [kg/m3] at those of vx,
    !> rho_z(nx,nz) at those of vz.
    integer(c_int) function fd2d_model_apart(handle, kappa, rho_x, rho_z) bind(c)
      import :: c_ptr, c_int, c_float
      implicit none
      type(c_ptr), value :: handle
      real(c_float), intent(in) :: kappa(*), rho_x(*), rho_z(*)
    end function fd2d_model_apart

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

    !> Device memory a handle would take [bytes], with so many receivers and time steps; 0 for a variant on the CPU.
    integer(c_int) function fd2d_need(variant, cfg, receivers, steps, bytes) bind(c)
      import :: c_int, c_char, c_long, fd2d_cfg
      implicit none
      character(kind=c_char), intent(in) :: variant(*)
      type(fd2d_cfg), intent(in) :: cfg
      integer(c_int), value :: receivers, steps
      integer(c_long), intent(out) :: bytes
    end function fd2d_need

    !> For tests and benchmarks; changes speed, never results (save that the build without fused multiply-add rounds twice).
    !> isa: "" = best of this processor, or a name such as "avx2"; width [cells], steps, rows: shape of the time-skewed tiles,
    !> 0 = derived from the cache. Of `tuned` shapes of blocks (fd2d_tuned.cu).
    integer(c_int) function fd2d_tune(handle, isa, width, steps, rows) bind(c)
      import :: c_ptr, c_int, c_char
      implicit none
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: isa(*)
      integer(c_int), value :: width, steps, rows
    end function fd2d_tune
  end interface
end module fd2d_c
