!> Waves in flat layers of rock that grow as exp(s t), s > 0, of one horizontal wavenumber k: those that a source sends, and what
!> contacts and a free surface send back and let through (layers_exact.f90). A layer has waves down and up,
!>
!>     P: (u_r, u_z) = (i k, -d p),  S: (-i d q, k),  SH: u_t = 1     times exp(-d p z) or exp(-d q z), d = 1 down, -1 up,
!>
!> p**2 = k**2 + s**2/vp**2, q**2 = k**2 + s**2/vs**2. All are real, none grows. Amplitudes follow from what is continuous at each
!> contact; where k is large P and S are nearly the same, so they are solved for in quadruple precision. Around the axis the waves
!> of a moment tensor are a trigonometric polynomial of the fourth degree, which six directions of the wavenumber tell.
module layers_waves_m
  use kinds_m, only: dp, pi
  implicit none
  private
  public :: near_layers_t, sent_t, LayersLayer, LayersSend, LayersArrive
  public :: directions, direction, ahead, aside

  integer, parameter :: qp = selected_real_kind(30)
  complex(dp), parameter :: i1 = (0.0_dp, 1.0_dp)
  integer, parameter :: directions = 6
  integer :: each
  real(dp), parameter :: direction(directions) = [(pi*(each - 1)/directions, each=1, directions)]   !< azimuths
  real(dp), parameter :: ahead(directions) = cos(direction), aside(directions) = sin(direction)

  !> Flat layers of rock from the top down. The last one has no end.
  type :: near_layers_t
    integer :: n = 0
    logical :: free = .false.                     !< top(1) is a free surface, else the first layer has no end
    real(dp), allocatable :: top(:)               !< (n) [m]
    real(dp), allocatable :: medium(:, :)         !< (3, n) vp, vs [m/s], rho [kg/m3]
  end type near_layers_t

  !> Waves of a layer at a wavenumber.
  type :: waves_t
    real(qp) :: p = 0, q = 0, mu = 0, inertia = 0 !< decays [1/m]; rigidity; rho s**2
  end type waves_t

  !> Waves of all layers at a wavenumber, and what goes down (1) and up (2) in each of six directions.
  type :: sent_t
    real(dp) :: k = 0
    real(dp), allocatable :: decay(:, :)          !< (P or S, layers) [1/m]
    real(dp), allocatable :: motion(:, :, :, :)   !< u_r/i and u_z of (P or S, down or up, layers)
    complex(dp), allocatable :: psv(:, :, :, :)   !< (directions, P or S, down or up, layers)
    complex(dp), allocatable :: sh(:, :, :)       !< (directions, down or up, layers)
  end type sent_t

contains

  !> The layer at depth z; on a contact the upper one.
  pure integer function LayersLayer(layers, z) result(j)
    type(near_layers_t), intent(in) :: layers
    real(dp), intent(in) :: z
    j = 1 + count(layers%top(2:layers%n) < z)
  end function LayersLayer

  !> Contacts make these waves of wavenumber k [1/m] of a force [N] and a moment tensor [N m] at depth zs in layer `at`.
  subroutine LayersSend(layers, s, k, zs, force, moment, at, sent)
    type(near_layers_t), intent(in) :: layers
    real(dp), intent(in) :: s, k, zs, force(3), moment(3, 3)
    integer, intent(in) :: at
    type(sent_t), intent(inout) :: sent
    complex(dp) :: f(3, 0:1, directions)
    type(waves_t) :: w(layers%n)
    real(dp) :: turns(3, 3), v(4)
    integer :: j, n, kind, d
    if (.not. allocated(sent%decay)) &
      allocate (sent%decay(2, layers%n), sent%motion(2, 2, 2, layers%n), sent%psv(directions, 2, 2, layers%n), &
                sent%sh(directions, 2, layers%n))
    sent%k = k
    do j = 1, layers%n
      associate (medium => layers%medium(:, j))
        w(j)%inertia = medium(3)*s**2
        w(j)%mu = medium(3)*medium(2)**2
        w(j)%p = sqrt(real(k, qp)**2 + (s/medium(1))**2)
        w(j)%q = sqrt(real(k, qp)**2 + (s/medium(2))**2)
      end associate
      sent%decay(:, j) = real([w(j)%p, w(j)%q], dp)
      do d = 1, 2
        do kind = 1, 2
          v = real(Motion(w(j), k, kind, 3 - 2*d), dp)
          sent%motion(:, kind, d, j) = v(:2)
        end do
      end do
    end do
    do n = 1, directions
      turns = Rotation(n)
      f(:, 0, n) = matmul(turns, force) - i1*k*matmul(turns, matmul(moment, turns(1, :)))
      f(:, 1, n) = matmul(turns, moment(:, 3))
    end do
    call Psv(layers, w, k, zs, at, f, sent%psv)
    call Sh(layers, w, zs, at, f, sent%sh)
  end subroutine LayersSend

  !> Motion u_x, u_y, u_z (1) and its slopes by depth (2) at depth z in a layer, of each direction.
  pure subroutine LayersArrive(layers, sent, layer, z, found)
    type(near_layers_t), intent(in) :: layers
    type(sent_t), intent(in) :: sent
    integer, intent(in) :: layer
    real(dp), intent(in) :: z
    complex(dp), intent(out) :: found(3, 2, directions)
    complex(dp) :: part(3), r(3, 2)
    real(dp) :: left(2), downwards
    integer :: d, kind, n
    found = 0
    do d = 1, 2
      if (d == 2 .and. layer == layers%n) cycle
      downwards = 3 - 2*d
      left = exp(-sent%decay(:, layer)*AlongDepth(layers, layer, d, z))
      do n = 1, directions
        r = 0
        do kind = 1, 2
          associate (v => sent%motion(:, kind, d, layer), sends => sent%psv(n, kind, d, layer)*left(kind))
            part = [i1*v(1)*sends, (0.0_dp, 0.0_dp), v(2)*sends]
          end associate
          if (kind == 2) part(2) = sent%sh(n, d, layer)*left(2)              ! decays as S does
          r(:, 1) = r(:, 1) + part
          r(:, 2) = r(:, 2) - downwards*sent%decay(kind, layer)*part
        end do
        found(1, :, n) = found(1, :, n) + ahead(n)*r(1, :) - aside(n)*r(2, :)
        found(2, :, n) = found(2, :, n) + aside(n)*r(1, :) + ahead(n)*r(2, :)
        found(3, :, n) = found(3, :, n) + r(3, :)
      end do
    end do
  end subroutine LayersArrive

  !> From x, y, z to along the wavenumber of a direction, across it, down.
  pure function Rotation(n)
    integer, intent(in) :: n
    real(dp) :: Rotation(3, 3)
    Rotation = reshape([ahead(n), -aside(n), 0.0_dp, aside(n), ahead(n), 0.0_dp, 0.0_dp, 0.0_dp, 1.0_dp], [3, 3])
  end function Rotation

  !> Motion u_r/i, u_z and stress s_rz/i, s_zz of P (1) and S (2) going down, d = 1, or up.
  pure function Motion(w, k, kind, d) result(v)
    type(waves_t), intent(in) :: w
    real(dp), intent(in) :: k
    integer, intent(in) :: kind, d
    real(qp) :: v(4)
    if (kind == 1) v = [real(k, qp), -d*w%p, -2*d*w%mu*k*w%p, w%inertia + 2*w%mu*real(k, qp)**2]
    if (kind == 2) v = [-d*w%q, real(k, qp), w%mu*(w%q**2 + real(k, qp)**2), -2*d*w%mu*k*w%q]
  end function Motion

  pure real(qp) function DecayOf(w, kind)
    type(waves_t), intent(in) :: w
    integer, intent(in) :: kind
    DecayOf = merge(w%p, w%q, kind == 1)
  end function DecayOf

  !> Waves down (1) and up (2) of a layer come so far to z.
  pure real(dp) function AlongDepth(layers, j, d, z) result(way)
    type(near_layers_t), intent(in) :: layers
    integer, intent(in) :: j, d
    real(dp), intent(in) :: z
    if (d == 1) way = max(0.0_dp, z - layers%top(j))
    if (d == 2) way = max(0.0_dp, layers%top(j + 1) - z)
  end function AlongDepth

  !> True of waves that there are: nothing comes down from without end, nor up.
  pure logical function Goes(layers, d, j)
    type(near_layers_t), intent(in) :: layers
    integer, intent(in) :: d, j
    Goes = merge(j > 1 .or. layers%free, j < layers%n, d == 1)
  end function Goes

  !> Amplitudes of P and S waves in all layers.
  subroutine Psv(layers, w, k, zs, at, f, sent)
    type(near_layers_t), intent(in) :: layers
    type(waves_t), intent(in) :: w(:)
    real(dp), intent(in) :: k, zs
    integer, intent(in) :: at
    complex(dp), intent(in) :: f(:, 0:, :)
    complex(dp), intent(out) :: sent(:, :, :, :)
    real(qp), allocatable :: a(:, :), b(:, :)
    integer, parameter :: parts(4) = [2, 4, 1, 3]
    integer :: column(2, 2, layers%n), n, j, d, kind, row
    n = 0
    column = 0
    do j = 1, layers%n
      do d = 1, 2                                 ! down, up
        if (.not. Goes(layers, d, j)) cycle
        column(:, d, j) = [n + 1, n + 2]
        n = n + 2
      end do
    end do
    allocate (a(n, n), b(n, 2*directions), source=0.0_qp)
    row = 0
    if (layers%free) then
      call Enter(1, layers%top(1), [3, 4], 1, row)
      row = 2
    end if
    do j = 1, layers%n - 1
      call Enter(j, layers%top(j + 1), parts, 1, row)
      call Enter(j + 1, layers%top(j + 1), parts, -1, row)
      row = row + 4
    end do
    call Solve(a, b)
    sent = 0
    do j = 1, layers%n
      do d = 1, 2
        do kind = 1, 2
          if (column(kind, d, j) > 0) sent(:, kind, d, j) = cmplx(b(column(kind, d, j), 1::2), b(column(kind, d, j), 2::2), dp)
        end do
      end do
    end do

  contains

    !> Parts of motion and stress in layer j at depth z, times sign, in the equations behind `row`.
    subroutine Enter(j, z, parts, sign, row)
      integer, intent(in) :: j, parts(:), sign, row
      real(dp), intent(in) :: z
      complex(qp) :: direct
      real(qp) :: v(4), scale(4), left
      integer :: d, kind, m, p
      scale(:2) = sign
      scale(3:) = sign/(maxval(w%inertia)/k + 2*maxval(w%mu)*k)
      do d = 1, 2
        do kind = 1, 2
          if (column(kind, d, j) == 0) cycle
          v = scale*Motion(w(j), k, kind, 3 - 2*d)
          left = exp(-DecayOf(w(j), kind)*AlongDepth(layers, j, d, z))
          do p = 1, size(parts)
            a(row + p, column(kind, d, j)) = a(row + p, column(kind, d, j)) + v(parts(p))*left
          end do
        end do
      end do
      if (j /= at) return
      d = merge(1, -1, z > zs)
      do kind = 1, 2
        v = scale*Motion(w(j), k, kind, d)
        left = exp(-DecayOf(w(j), kind)*abs(z - zs))
        do m = 1, directions
          direct = Emitted(w(j), k, f(:, :, m), kind, d)*left
          do p = 1, size(parts)
            b(row + p, 2*m - 1) = b(row + p, 2*m - 1) - real(direct)*v(parts(p))
            b(row + p, 2*m) = b(row + p, 2*m) - aimag(direct)*v(parts(p))
          end do
        end do
      end do
    end subroutine Enter

  end subroutine Psv

  !> The amplitude of P (1) or S (2) that forces f send down, d = 1, or up: along r, t, z, and what is differentiated by depth.
  pure complex(qp) function Emitted(w, k, f, kind, d)
    type(waves_t), intent(in) :: w
    real(dp), intent(in) :: k
    complex(dp), intent(in) :: f(:, 0:)
    integer, intent(in) :: kind, d
    complex(qp) :: along, down
    down = f(1, 0) + d*DecayOf(w, kind)*f(1, 1)
    along = cmplx(aimag(down), -real(down), qp)   ! over i
    down = f(3, 0) + d*DecayOf(w, kind)*f(3, 1)
    if (kind == 1) Emitted = -((k/w%p)*along + d*down)/(2*w%inertia)
    if (kind == 2) Emitted = -(d*along + (k/w%q)*down)/(2*w%inertia)
  end function Emitted

  !> Amplitudes of SH waves in all layers.
  subroutine Sh(layers, w, zs, at, f, sent)
    type(near_layers_t), intent(in) :: layers
    type(waves_t), intent(in) :: w(:)
    real(dp), intent(in) :: zs
    integer, intent(in) :: at
    complex(dp), intent(in) :: f(:, 0:, :)
    complex(dp), intent(out) :: sent(:, :, :)
    real(qp), allocatable :: a(:, :), b(:, :)
    integer :: column(2, layers%n), n, j, d, row
    n = 0
    column = 0
    do j = 1, layers%n
      do d = 1, 2
        if (.not. Goes(layers, d, j)) cycle
        n = n + 1
        column(d, j) = n
      end do
    end do
    allocate (a(n, n), b(n, 2*directions), source=0.0_qp)
    row = 0
    if (layers%free) then
      call Enter(1, layers%top(1), .true., 1, 1)
      row = 1
    end if
    do j = 1, layers%n - 1
      call Enter(j, layers%top(j + 1), .false., 1, row + 1)
      call Enter(j + 1, layers%top(j + 1), .false., -1, row + 1)
      call Enter(j, layers%top(j + 1), .true., 1, row + 2)
      call Enter(j + 1, layers%top(j + 1), .true., -1, row + 2)
      row = row + 2
    end do
    call Solve(a, b)
    sent = 0
    do j = 1, layers%n
      do d = 1, 2
        if (column(d, j) > 0) sent(:, d, j) = cmplx(b(column(d, j), 1::2), b(column(d, j), 2::2), dp)
      end do
    end do

  contains

    !> Motion, or stress, of layer j at depth z, times sign, in an equation.
    subroutine Enter(j, z, stress, sign, equation)
      integer, intent(in) :: j, sign, equation
      real(dp), intent(in) :: z
      logical, intent(in) :: stress
      complex(qp) :: direct
      real(qp) :: scale, left
      integer :: d, m
      scale = sign
      if (stress) scale = scale*w(j)%mu*w(j)%q/(maxval(w%mu)*maxval(w%q))
      do d = 1, 2
        if (column(d, j) == 0) cycle
        a(equation, column(d, j)) = a(equation, column(d, j)) + merge(2*d - 3, 1, stress)*scale* &
                                    exp(-w(j)%q*AlongDepth(layers, j, d, z))
      end do
      if (j /= at) return
      d = merge(1, -1, z > zs)
      left = scale*exp(-w(j)%q*abs(z - zs))/(2*w(j)%mu*w(j)%q)
      if (stress) left = -d*left
      do m = 1, directions
        direct = (f(2, 0, m) + d*w(j)%q*f(2, 1, m))*left
        b(equation, 2*m - 1) = b(equation, 2*m - 1) - real(direct)
        b(equation, 2*m) = b(equation, 2*m) - aimag(direct)
      end do
    end subroutine Enter

  end subroutine Sh

  !> Solves a x = b, b handed over in x, by elimination with exchange of rows.
  pure subroutine Solve(a, x)
    real(qp), intent(inout) :: a(:, :), x(:, :)
    real(qp) :: row(size(a, 1)), other(size(x, 2)), f
    integer :: i, j, p, n
    n = size(a, 1)
    do i = 1, n
      p = i - 1 + maxloc(abs(a(i:, i)), dim=1)
      if (p /= i) then
        row = a(i, :); a(i, :) = a(p, :); a(p, :) = row
        other = x(i, :); x(i, :) = x(p, :); x(p, :) = other
      end if
      do j = i + 1, n
        f = a(j, i)/a(i, i)
        a(j, i + 1:) = a(j, i + 1:) - f*a(i, i + 1:)
        x(j, :) = x(j, :) - f*x(i, :)
      end do
    end do
    do i = n, 1, -1
      do j = i + 1, n
        x(i, :) = x(i, :) - a(i, j)*x(j, :)
      end do
      x(i, :) = x(i, :)/a(i, i)
    end do
  end subroutine Solve

end module layers_waves_m
