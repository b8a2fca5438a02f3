!> The identity of a shot: all that must be the same where it is to go on from a state. Bits depend on the code too; they do not on
!> threads, chunks, or the shape of tiles and blocks.
module state_identity_m
  use hash_m, only: hash_t, HashText
  use text_m, only: Str
  use timeloop_m, only: timeloop_t
  use version_m, only: VersionText
  implicit none
  private
  public :: StateIdentity

contains

  !> `name value` a line. `shape`: of the grid; fingerprints of the grid's other properties, of medium and layers, of source and
  !> receivers with what is recorded there, of wavelet, time steps and pictures.
  function StateIdentity(loop, shape, grid, medium, positions, times) result(text)
    class(timeloop_t), intent(in) :: loop
    character(*), intent(in) :: shape
    type(hash_t), intent(in) :: grid, medium, positions, times
    character(:), allocatable :: text
    character(*), parameter :: nl = new_line('a')
    text = 'variant '//loop%variant//nl//'code '//VersionText()//nl//'grid '//shape//' '//HashText(grid)//nl// &
           'medium '//HashText(medium)//nl//'positions '//HashText(positions)//nl// &
           'times '//Str(loop%scheme%nt)//' '//HashText(times)
  end function StateIdentity

end module state_identity_m
