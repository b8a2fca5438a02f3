!> The readers of a 3D job's own files, behind the door of readers.f90.
module readers3d_m
  use error_m, only: error_t
  use finite_fault_m, only: fault_moment_t, finite_fault_t, FaultEnd, FaultMoment, FaultSample, FaultStart
  use finite_fault_netcdf_m, only: FaultFile
  use iso_c_binding, only: c_int
  use kinds_m, only: dp, sp
  use flat_layers_m, only: flat_layers_t, FlatLayersRead
  use readerparts_m, only: Contradiction, Put, refused, taken, Verdict
  implicit none
  private
  public :: Fault, Layers

contains

  !> A fault: SRF, NetCDF or plain text. What is read has a moment, and histories that can be sampled.
  integer(c_int) function Fault(input, at) result(outcome)
    character(*), intent(in) :: input, at
    type(finite_fault_t) :: f
    type(fault_moment_t) :: moment
    type(error_t), allocatable :: error
    real(sp), allocatable :: q(:, :)
    integer :: i
    call Put(at//'f.fault', input)
    call FaultFile(at//'f.fault', [20.0_dp, 45.0_dp], 30.0_dp, f, error)
    outcome = Verdict(error)
    if (outcome /= taken) return
    if (f%n < 1 .or. size(f%rate) /= f%start(f%n + 1) - 1 .or. size(f%dt) /= f%n) outcome = Contradiction('points and samples disagree')
    moment = FaultMoment(f, [(3.0e10_dp, i=1, f%n)])
    if (.not. moment%scalars >= 0 .or. .not. moment%norm <= moment%scalars*(1 + 1e-9_dp) .or. .not. FaultEnd(f) > FaultStart(f)) &
      outcome = Contradiction('no moment, or an end before the begin')
    if (f%points /= sum(f%dropped) + count([.true., f%point(2:f%n) /= f%point(:f%n - 1)])) &
      outcome = Contradiction('points that are neither used nor dropped')
    if (f%n > 1000) return
    allocate (q(f%n, 7))
    call FaultSample(f, minval(f%t0), maxval(f%dt)/3, 1, q)
    if (.not. all(abs(q) <= huge(q))) outcome = Contradiction('a history that is no number')
  end function Fault

  !> A table of flat layers: tops rise, and each is a fluid or rock.
  integer(c_int) function Layers(input, at) result(outcome)
    character(*), intent(in) :: input, at
    type(flat_layers_t) :: l
    type(error_t), allocatable :: error
    call Put(at//'l.layers', input)
    call FlatLayersRead(at//'l.layers', l, error)
    outcome = Verdict(error)
    if (outcome /= taken) return
    if (l%n < 1 .or. size(l%top) /= l%n .or. any(shape(l%medium) /= [5, l%n])) outcome = Contradiction('layers without numbers')
    if (any(l%top(2:) <= l%top(:l%n - 1))) outcome = Contradiction('tops that do not rise')
    if (any(l%medium(1, :) < 50) .or. any(0.75_dp*l%medium(1, :)**2 < l%medium(2, :)**2*(1 - 1e-9_dp))) &
      outcome = Contradiction('no rock')
  end function Layers

end module readers3d_m
