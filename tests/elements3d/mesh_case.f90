!> Meshes for tests: boxes of distorted hexahedra, their nodes and elements renumbered and turned at random.
module mesh_case_m
  use check_m, only: GivenSeed, Seed
  use hexahedron_m, only: hex_node
  use kinds_m, only: dp
  use mesh_m, only: mesh_t
  implicit none
  private
  public :: AnySeed, Chance, BoxMesh, MixMesh

contains

  !> Begins random numbers with the test's first argument, else with SEED or the clock; tell the result in the claims.
  integer function AnySeed()
    character(20) :: word
    integer :: io
    call get_command_argument(1, word)
    read (word, *, iostat=io) AnySeed
    if (io /= 0) AnySeed = GivenSeed()
    call Seed(AnySeed)
  end function AnySeed

  !> A random number from lo to hi.
  real(dp) function Chance(lo, hi)
    real(dp), intent(in) :: lo, hi
    call random_number(Chance)
    Chance = lo + (hi - lo)*Chance
  end function Chance

  !> 1 .. n in random order.
  function Shuffled(n) result(order)
    integer, intent(in) :: n
    integer :: order(n), i, j
    order = [(i, i=1, n)]
    do i = n, 2, -1
      j = min(i, 1 + int(Chance(0.0_dp, real(i, dp))))
      order([i, j]) = order([j, i])
    end do
  end function Shuffled

  !> A box of n(1) x n(2) x n(3) elements, each `side` [m] large, from `low` [m] on: nodes are moved by up to `shake` of an element
  !> (of half an element where there are 27 nodes). Block 1 is above z = low(3) + top*side, block 2 below.
  function BoxMesh(n, side, low, shake, per, top) result(mesh)
    integer, intent(in) :: n(3), per, top
    real(dp), intent(in) :: side(3), low(3), shake
    type(mesh_t) :: mesh
    integer :: m(3), every, i, j, k, e, a, at(3)
    every = merge(1, 2, per == 8)                         ! nodes along an element
    m = every*n + 1
    mesh%path = 'box'
    mesh%per = per
    allocate (mesh%x(3, product(m)), mesh%node(per, product(n)), mesh%block(product(n)), mesh%blocks(2), mesh%sets(0))
    do k = 1, m(3)
      do j = 1, m(2)
        do i = 1, m(1)
          do a = 1, 3
            at = [i, j, k] - 1
            mesh%x(a, Node([i, j, k] - 1)) = low(a) + side(a)/every*(at(a) + Chance(-shake, shake))
          end do
        end do
      end do
    end do
    e = 0
    do k = 1, n(3)
      do j = 1, n(2)
        do i = 1, n(1)
          e = e + 1
          do a = 1, per
            mesh%node(a, e) = Node(every*([i, j, k] - 1) + (hex_node(:, a) + 1)*every/2)
          end do
          mesh%block(e) = merge(1, 2, k <= top)
        end do
      end do
    end do
    mesh%number = [(e, e=1, product(n))]
    do a = 1, 2
      mesh%blocks(a)%id = 10*a
      mesh%blocks(a)%name = trim(merge('above', 'below', a == 1))
      mesh%blocks(a)%elements = count(mesh%block == a)
    end do

  contains

    pure integer function Node(at)
      integer, intent(in) :: at(3)
      Node = 1 + at(1) + m(1)*(at(2) + m(2)*at(3))
    end function Node
  end function BoxMesh

  !> The same mesh with its nodes and elements in random order, and each element begun at a random corner and along a random edge.
  subroutine MixMesh(mesh)
    type(mesh_t), intent(inout) :: mesh
    integer :: place(size(mesh%x, 2)), order(size(mesh%node, 2)), e
    place = Shuffled(size(place))
    mesh%x(:, place) = mesh%x
    do e = 1, size(mesh%node, 2)
      mesh%node(:, e) = place(mesh%node(Turned(mesh%per), e))
    end do
    order = Shuffled(size(order))
    mesh%node = mesh%node(:, order)
    mesh%block = mesh%block(order)
  end subroutine MixMesh

  !> Nodes of an element as they follow each other after a random rotation.
  function Turned(per) result(from)
    integer, intent(in) :: per
    integer :: from(per), axis(3), sign(3), at(3), a, b
    axis = Shuffled(3)
    sign = [(merge(1, -1, Chance(0.0_dp, 1.0_dp) < 0.5_dp), a=1, 3)]
    if (product(sign)*Handed(axis) < 0) sign(3) = -sign(3)
    do a = 1, per
      at = sign*hex_node(axis, a)
      do b = 1, per
        if (all(hex_node(:, b) == at)) from(a) = b
      end do
    end do
  end function Turned

  pure integer function Handed(axis)
    integer, intent(in) :: axis(3)
    Handed = merge(1, -1, modulo(axis(2) - axis(1), 3) == 1)
  end function Handed

end module mesh_case_m
