!> The readers of a 3D job's own files, behind the door of readers.f90.
module readers3d_m
  use element_finder_m, only: finder_t, FinderFind, FinderMake
  use elements_m, only: elements_t, face_free
  use elements_points_m, only: ElementsNumber
  use error_m, only: error_t
  use finite_fault_m, only: fault_moment_t, finite_fault_t, FaultEnd, FaultMoment, FaultSample, FaultStart
  use finite_fault_netcdf_m, only: FaultFile
  use iso_c_binding, only: c_int
  use kinds_m, only: dp, sp
  use flat_layers_m, only: flat_layers_t, FlatLayersRead
  use layer_table_m, only: layer_table_t, LayersRead
  use materials_m, only: from_table, materials_t, MaterialsRead
  use mesh_check_m, only: MeshCheck
  use mesh_exodus_m, only: MeshRead
  use mesh_m, only: mesh_t, MeshOrder, MeshSort
  use mesh_surface_m, only: SurfaceAt
  use readerparts_m, only: Contradiction, lf, Put, Split, taken, Verdict
  implicit none
  private
  public :: Exodus, Fault, Layers, Materials, Stack

contains

  !> A fault: SRF, NetCDF or plain text. One that is read has a moment, and histories that can be sampled.
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

  !> A table of materials of blocks: each is a fluid or rock, or comes from volumes.
  integer(c_int) function Materials(input, at) result(outcome)
    character(*), intent(in) :: input, at
    type(materials_t) :: m
    type(error_t), allocatable :: error
    call Put(at//'m.materials', input)
    call MaterialsRead(at//'m.materials', m, error, .true.)
    outcome = Verdict(error)
    if (outcome /= taken) return
    if (size(m%block) < 1 .or. size(m%part, 2) /= size(m%block) .or. size(m%relative, 2) /= size(m%block)) &
      outcome = Contradiction('blocks without numbers')
    if (.not. all(abs(m%part) <= huge(m%part)) .or. .not. all(abs(m%relative) <= huge(m%relative))) &
      outcome = Contradiction('a medium that is no number')
    if (any(m%from == from_table .and. (m%part(1, :) < 50 .or. m%part(3, :) <= 0))) outcome = Contradiction('no rock')
  end function Materials

  !> A table of layers for the mesher, and the grid of one more of them: upper sides have depths, or say where not and why.
  integer(c_int) function Stack(input, at) result(outcome)
    character(*), intent(in) :: input, at
    type(layer_table_t) :: t
    type(error_t), allocatable :: error
    character(:), allocatable :: table, grid, why
    real(dp) :: z
    integer :: i, k
    logical :: ok
    call Split(input, table, grid)
    if (grid /= '') table = table//lf//'below '//at//'g.grid'
    call Put(at//'l.layers', table)
    call Put(at//'g.grid', grid)
    call LayersRead(at//'l.layers', t, error)
    outcome = Verdict(error)
    if (outcome /= taken) return
    do k = 1, size(t%layer)
      do i = 0, 4
        call SurfaceAt(t%layer(k)%top, 100.0_dp*i, 70.0_dp*i, z, ok, why)
        if (ok .and. .not. abs(z) <= 1.0e7_dp) outcome = Contradiction('a depth that is no number')
        if (.not. ok .and. len(why) < 15) outcome = Contradiction("'"//why//"' is no sentence")
      end do
    end do
  end function Stack

  !> A mesh in Exodus II. Of one that passes its checks each point has a number, and each corner an element.
  integer(c_int) function Exodus(input, at) result(outcome)
    character(*), intent(in) :: input, at
    type(mesh_t) :: m
    type(elements_t) :: elements
    type(finder_t) :: finder
    type(error_t), allocatable :: error
    integer, allocatable :: order(:)
    logical, allocatable :: seen(:)
    real(dp) :: xi(3), away
    integer :: e, i
    call Put(at//'m.exo', input)
    call MeshRead(at//'m.exo', m, error)
    outcome = Verdict(error)
    if (outcome /= taken) return
    if (any(m%node < 1) .or. any(m%node > size(m%x, 2)) .or. sum(m%blocks%elements) /= size(m%node, 2)) &
      outcome = Contradiction('nodes or elements that are not there')
    do i = 1, size(m%sets)
      if (any(m%sets(i)%element < 1) .or. any(m%sets(i)%element > size(m%node, 2)) .or. any(m%sets(i)%side < 1) &
          .or. any(m%sets(i)%side > 6)) outcome = Contradiction('sides that are not there')
    end do
    if (outcome /= taken .or. size(m%node, 2) > 100) return
    call MeshCheck(m, error)
    if (allocated(error)) return
    call MeshOrder(m, m%block == 1, order, elements%brick)
    call MeshSort(m, order)
    elements%n = size(order)
    elements%solid = count(m%block /= 1)
    elements%node = m%node(:8, :)
    allocate (elements%face(6, elements%n), source=face_free)
    call ElementsNumber(elements)
    allocate (seen(elements%points), source=.false.)
    allocate (elements%corner(3, m%per, elements%n))
    do e = 1, elements%n
      elements%corner(:, :, e) = m%x(:, m%node(:, e))
      seen(elements%at(:, e)) = .true.
    end do
    if (.not. all(seen)) outcome = Contradiction('numbers of points that no element has')
    call FinderMake(finder, elements%corner)
    do e = 1, elements%n
      call FinderFind(finder, elements%corner, elements%corner(:, 1, e), i, xi, away)
      if (away > 0) outcome = Contradiction('a corner that no element has')
    end do
  end function Exodus

end module readers3d_m
