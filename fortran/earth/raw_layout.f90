!> Checks that the numbers of a raw file follow each other as the job says. The file does not tell; but after the end of a line
!> comes the number of another place, and it jumps. Where the jumps have the period of another axis, axes or their lengths are
!> mixed up. The same goes for lines and planes.
module raw_layout_m
  use kinds_m, only: dp, i8, sp
  use text_m, only: Str
  implicit none
  private
  public :: RawLayoutDoubt

  real(dp), parameter :: clear = 5             !< most jumps must be so many times as large as changes elsewhere
  real(dp), parameter :: noticed = 1.0e-3_dp   !< of the mean of the numbers: smaller jumps tell nothing
  integer, parameter :: looks = 4096           !< places that are looked at, at most
  integer, parameter :: jumps_least = 4        !< with fewer jumps nothing is concluded

contains

  !> A sentence if lines or planes seem to have another length, '' if not. a(n(1), n(2) n(3)): samples along x, y, z as the job
  !> says. of: which axis of the file x, y and z are, 1 runs fastest; lengths 1 come last. as: what the file is taken for in place
  !> of what it was read as.
  pure function RawLayoutDoubt(a, n, of, as) result(doubt)
    real(sp), intent(in) :: a(:, :)
    integer, intent(in) :: n(3), of(3)
    integer, intent(in), optional :: as(3)
    character(:), allocatable :: doubt
    integer :: lengths(3)
    lengths(of) = n
    if (present(as)) lengths(as) = n
    associate (line => lengths(1), plane => lengths(2), volume => lengths(3))
      doubt = ''
      if (Mixed(a, n, of, 1, line, plane)) then
        doubt = Jumps('numbers', plane, line)
      else if (Mixed(a, n, of, 1, line, volume)) then
        doubt = Jumps('numbers', volume, line)
      else if (Mixed(a, n, of, line, plane, volume)) then
        doubt = Jumps('lines', volume, plane)
      end if
    end associate
  end function RawLayoutDoubt

  pure function Jumps(what, period, declared) result(words)
    character(*), intent(in) :: what
    integer, intent(in) :: period, declared
    character(:), allocatable :: words
    words = 'its '//what//' jump every '//Str(period)//' and not every '//Str(declared)
  end function Jumps

  !> True where blocks of `stride` numbers jump every `other` blocks rather than every `declared`.
  pure logical function Mixed(a, n, of, stride, declared, other)
    real(sp), intent(in) :: a(:, :)
    integer, intent(in) :: n(3), of(3), stride, declared, other
    real(dp) :: expected, elsewhere, mean, change
    integer(i8) :: blocks
    integer :: found, large
    Mixed = .false.
    blocks = size(a, kind=i8)/stride
    if (declared == other .or. other < 2 .or. declared < 2) return
    call Changes(a, n, of, stride, blocks, declared, [other], 0.0_dp, expected, mean, found, large)
    call Changes(a, n, of, stride, blocks, 1, [declared, other], 0.0_dp, elsewhere, mean, found, large)
    call Changes(a, n, of, stride, blocks, other, [declared], max(clear*expected, clear*elsewhere, noticed*mean), change, mean, &
                 found, large)
    Mixed = found >= jumps_least .and. 2*large > found
  end function Mixed

  !> Changes from one block to the next where a multiple of `period` of them have passed, but of none of `except`: how many were
  !> found, and of them larger than `much`; their mean, and that of the numbers.
  pure subroutine Changes(a, n, of, stride, blocks, period, except, much, change, mean, found, large)
    real(sp), intent(in) :: a(:, :)
    integer, intent(in) :: n(3), of(3), stride, period, except(:)
    integer(i8), intent(in) :: blocks
    real(dp), intent(in) :: much
    real(dp), intent(out) :: change, mean
    integer, intent(out) :: found, large
    real(dp) :: d
    integer(i8) :: step, block
    integer :: k, q
    change = 0
    mean = 0
    found = 0
    large = 0
    step = max(1_i8, (blocks - 1)/(period*int(looks, i8)))
    do k = 1, int((blocks - 1)/(step*period))
      block = period*(k*step - mod(int(k*7919, i8), step))      ! not at equal distances, as other things may be so too
      if (any(mod(block, int(except, i8)) == 0)) cycle
      q = mod(k*7919, stride)
      d = abs(Number(a, n, of, block*stride + q) - Number(a, n, of, (block - 1)*stride + q))
      found = found + 1
      if (d > much) large = large + 1
      change = change + d
      mean = mean + abs(Number(a, n, of, block*stride + q))
    end do
    change = change/max(found, 1)
    mean = mean/max(found, 1)
  end subroutine Changes

  !> Number t of the file, from 0.
  pure real(dp) function Number(a, n, of, t)
    real(sp), intent(in) :: a(:, :)
    integer, intent(in) :: n(3), of(3)
    integer(i8), intent(in) :: t
    integer :: lengths(3), at(3)
    lengths(of) = n
    at(1) = int(mod(t, int(lengths(1), i8)))
    at(2) = int(mod(t/lengths(1), int(lengths(2), i8)))
    at(3) = int(t/lengths(1)/lengths(2))
    at = at(of)
    Number = real(a(1 + at(1), 1 + at(3)*n(2) + at(2)), dp)
  end function Number

end module raw_layout_m
