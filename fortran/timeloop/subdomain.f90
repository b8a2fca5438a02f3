!> A grid cut into pieces by planes: which piece is whose, and who is beside whom. Pieces count from 1, along x first, then y, z.
module subdomain_m
  use text_m, only: Str
  implicit none
  private
  public :: cuts_t, CutsEven, CutsPiece, CutsBeside, CutsWords

  type :: cuts_t
    integer :: parts(3) = 1                   !< pieces along x, y, z
    integer, allocatable :: last(:, :)        !< the last cell of each piece along an axis, (0:largest of parts, 3); last(0) = 0
  end type cuts_t

contains

  !> Pieces as equal as can be; first pieces are larger by a cell where it does not divide.
  pure function CutsEven(n, parts) result(cuts)
    integer, intent(in) :: n(3), parts(3)
    type(cuts_t) :: cuts
    integer :: a, p
    cuts%parts = parts
    allocate (cuts%last(0:maxval(parts), 3), source=0)
    do a = 1, 3
      do p = 1, parts(a)
        cuts%last(p, a) = cuts%last(p - 1, a) + n(a)/parts(a) + merge(1, 0, p <= modulo(n(a), parts(a)))
      end do
    end do
  end function CutsEven

  !> The place of a piece, 1..parts along each axis.
  pure function CutsPlace(cuts, piece) result(place)
    type(cuts_t), intent(in) :: cuts
    integer, intent(in) :: piece
    integer :: place(3)
    associate (p => cuts%parts)
      place = 1 + [modulo(piece - 1, p(1)), modulo((piece - 1)/p(1), p(2)), (piece - 1)/(p(1)*p(2))]
    end associate
  end function CutsPlace

  !> First and last cell of a piece.
  pure subroutine CutsPiece(cuts, piece, first, last)
    type(cuts_t), intent(in) :: cuts
    integer, intent(in) :: piece
    integer, intent(out) :: first(3), last(3)
    integer :: place(3), a
    place = CutsPlace(cuts, piece)
    first = [(cuts%last(place(a) - 1, a) + 1, a=1, 3)]
    last = [(cuts%last(place(a), a), a=1, 3)]
  end subroutine CutsPiece

  !> The piece beside another at its side 1..6 (x low, x high, y low, ...), 0 if none is; `round`: the axis is closed to a ring.
  pure integer function CutsBeside(cuts, piece, side, round) result(beside)
    type(cuts_t), intent(in) :: cuts
    integer, intent(in) :: piece, side
    logical, intent(in) :: round
    integer :: place(3), a
    a = (side + 1)/2
    place = CutsPlace(cuts, piece)
    place(a) = place(a) + merge(-1, 1, modulo(side, 2) == 1)
    if (round) place(a) = 1 + modulo(place(a) - 1, cuts%parts(a))
    beside = 0
    if (place(a) >= 1 .and. place(a) <= cuts%parts(a)) beside = NumberOf(cuts, place)
  end function CutsBeside

  !> '2x1x2, pieces of 40 x 80 x 40 to 44 x 80 x 40 cells': the smallest and the largest.
  pure function CutsWords(cuts) result(words)
    type(cuts_t), intent(in) :: cuts
    character(:), allocatable :: words
    integer :: a, least(3), most(3)
    do a = 1, 3
      associate (p => cuts%parts(a))
        least(a) = minval(cuts%last(1:p, a) - cuts%last(0:p - 1, a))
        most(a) = maxval(cuts%last(1:p, a) - cuts%last(0:p - 1, a))
      end associate
    end do
    words = Extent(cuts%parts, 'x')//', pieces of '//Extent(least, ' x ')
    if (any(least /= most)) words = words//' to '//Extent(most, ' x ')
    words = words//' cells'
  end function CutsWords

  pure function Extent(n, times) result(words)
    integer, intent(in) :: n(3)
    character(*), intent(in) :: times
    character(:), allocatable :: words
    words = Str(n(1))//times//Str(n(2))//times//Str(n(3))
  end function Extent

  pure integer function NumberOf(cuts, place) result(piece)
    type(cuts_t), intent(in) :: cuts
    integer, intent(in) :: place(3)
    piece = place(1) + cuts%parts(1)*((place(2) - 1) + cuts%parts(2)*(place(3) - 1))
  end function NumberOf

end module subdomain_m
