!> The weight of an ocean on a solid, in place of elements of water: at free sides that look up each point has, for motion along the
!> normal, the mass of the water above it beside its own (Komatitsch & Tromp 2002, GJI 150, 303-318, section 4).
!>
!> The water then moves with its floor as a whole and nothing travels in it: right where its depth is far below the wavelength of
!> sound in it. Of a plane wave from below the exact load of water h deep is tan(kh)/kh of the mass rho h, k = omega/c: with ten
!> times the depth in a wavelength 1.15 of it, with twenty 1.03. Slopes have their normal, and shear none of it.
module elements_ocean_m
  use elements_m, only: elements_t, face_free, looks_up, on_face
  use error_m, only: error_t, Fail
  use gll_m, only: gll_x
  use hexahedron_m, only: hex_side, hex_side_point
  use kinds_m, only: dp, sp
  use mesh_surface_m, only: surface_t, SurfaceAt, SurfaceRead
  use sem3d_element_m, only: SideArea
  use text_m, only: Str
  implicit none
  private
  public :: OceanOver, OceanMass

  integer, parameter :: corners = 8

contains

  !> Sets the mass of water above the corners of solid elements with free sides that look up [kg/m2]. what: `topography`, the sea
  !> reaches up to z = 0; else its depth [m]: a number, a formula or a grid (mesh_surface.f90). Fails where no side has water.
  subroutine OceanOver(elements, what, rho, error)
    type(elements_t), intent(inout) :: elements
    character(*), intent(in) :: what
    real(dp), intent(in) :: rho                           !< of the water [kg/m3]
    type(error_t), allocatable, intent(inout) :: error
    type(surface_t) :: depth
    character(:), allocatable :: why
    real(dp) :: h
    integer :: e, s, a
    logical :: ok
    if (what /= 'topography') call SurfaceRead(what, 'ocean_load: ', depth, error)
    if (allocated(error)) return
    if (allocated(elements%ocean)) deallocate (elements%ocean)
    allocate (elements%ocean(corners, elements%n), source=0.0_sp)
    do e = 1, elements%solid
      do s = 1, 6
        if (.not. IsTop(elements, e, s)) cycle
        do a = 1, 4
          associate (x => elements%corner(:, hex_side(a, s), e))
            h = x(3)
            ok = .true.
            if (what /= 'topography') call SurfaceAt(depth, x(1), x(2), h, ok, why)
            if (.not. ok) then
              call Fail(error, 'ocean_load = '//what//', at x = '//Str(x(1), 7)//', y = '//Str(x(2), 7)//' m: it '// &
                        why)
              return
            end if
          end associate
          elements%ocean(hex_side(a, s), e) = real(rho*max(0.0_dp, h), sp)
        end do
      end do
    end do
    if (.not. any(elements%ocean > 0)) call Fail(error, 'ocean_load = '//what// &
                                                 ': no free side of a solid that looks up has water above it')
  end subroutine OceanOver

  pure logical function IsTop(elements, e, s)
    type(elements_t), intent(in) :: elements
    integer, intent(in) :: e, s
    real(dp) :: area(3, on_face)
    IsTop = .false.
    if (elements%face(s, e) /= face_free) return
    call SideArea(elements%corner(:, :, e), s, area)
    IsTop = -sum(area(3, :)) > looks_up*norm2(sum(area, 2))
  end function IsTop

  !> Points with water above, and what it adds to their mass [kg]: xx yy zz xy xz yz, (6, points).
  pure subroutine OceanMass(elements, point, mass)
    type(elements_t), intent(in) :: elements
    integer, allocatable, intent(out) :: point(:)
    real(sp), allocatable, intent(out) :: mass(:, :)
    integer, parameter :: first(6) = [1, 2, 3, 1, 1, 2], second(6) = [1, 2, 3, 2, 3, 3]
    real(dp), allocatable :: sums(:, :)
    integer, allocatable :: number(:)
    real(dp) :: area(3, on_face), water(on_face)
    integer :: e, s, p, n, m, points
    allocate (number(elements%points), source=0)
    points = 0
    do n = 1, 2                                           ! counted, then summed
      if (n == 2) allocate (point(points), source=0)
      if (n == 2) allocate (sums(6, points), source=0.0_dp)
      do e = 1, elements%solid
        if (.not. any(elements%ocean(:, e) > 0)) cycle
        do s = 1, 6
          if (.not. IsTop(elements, e, s)) cycle
          call SideArea(elements%corner(:, :, e), s, area)
          water = WaterAt(elements%ocean(:, e), s)
          do p = 1, on_face
            associate (at => elements%at(hex_side_point(p, s), e))
              if (at == 0) cycle                          ! a point of another piece
              if (n == 1 .and. number(at) == 0) then
                points = points + 1
                number(at) = points
              else if (n == 2) then
                point(number(at)) = at
                do m = 1, 6
                  sums(m, number(at)) = sums(m, number(at)) + water(p)*area(first(m), p)*area(second(m), p)/norm2(area(:, p))
                end do
              end if
            end associate
          end do
        end do
      end do
    end do
    mass = real(sums, sp)
  end subroutine OceanMass

  !> Between the corners of a side, at its points.
  pure function WaterAt(water, s) result(at)
    use hexahedron_m, only: hex_node
    real(sp), intent(in) :: water(corners)
    integer, intent(in) :: s
    real(dp) :: at(on_face), xi(3)
    integer :: p, a, q
    at = 0
    do p = 1, on_face
      q = hex_side_point(p, s) - 1
      xi = gll_x(modulo([q, q/5, q/25], 5) + 1)
      do a = 1, 4
        associate (c => hex_side(a, s))
          at(p) = at(p) + water(c)*product(1 + hex_node(:, c)*xi)/8
        end associate
      end do
    end do
  end function WaterAt

end module elements_ocean_m
