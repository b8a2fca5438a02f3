!> The identity of a shot: all that must be the same where it is to go on from a state. Bits depend on the code too; they do not on
!> threads, chunks, or the shape of tiles and blocks.
module state_identity_m
  use checksum_c, only: checksum_floats
  use hash_m, only: hash_t, HashAdd, HashText
  use kinds_m, only: i8
  use scheme_m, only: scheme_t
  use shot_m, only: shot_t
  use text_m, only: Str
  use version_m, only: VersionText
  implicit none
  private
  public :: identity_t, IdentityOf, IdentityText

  type :: identity_t
    character(:), allocatable :: shape            !< of the grid, in words
    type(hash_t) :: grid                          !< its other properties
    type(hash_t) :: medium                        !< with the absorbing layers
    type(hash_t) :: positions                     !< of source and receivers, and what acts and is recorded there
    type(hash_t) :: times                         !< wavelet, time steps and pictures
  end type identity_t

contains

  !> Takes in what all solvers have: positions in x and z, components, wavelet and time steps. A solver adds grid, medium, and all
  !> else that its bits depend on.
  function IdentityOf(scheme, shot) result(identity)
    type(scheme_t), intent(in) :: scheme
    type(shot_t), intent(in) :: shot
    type(identity_t) :: identity
    integer :: c
    call HashAdd(identity%positions, shot%record)
    call HashAdd(identity%positions, [shot%sx, shot%sz, shot%rx, shot%rz])
    do c = 1, len(scheme%components)
      call HashAdd(identity%positions, ichar(scheme%components(c:c)))
    end do
    call HashAdd(identity%times, checksum_floats(0_i8, size(scheme%q, kind=i8), scheme%q))
    call HashAdd(identity%times, scheme%nt)
    call HashAdd(identity%times, scheme%t_start)
    call HashAdd(identity%times, merge(1, 0, scheme%time_correction))
  end function IdentityOf

  !> `name value` a line.
  function IdentityText(identity, variant, nt) result(text)
    type(identity_t), intent(in) :: identity
    character(*), intent(in) :: variant
    integer, intent(in) :: nt
    character(:), allocatable :: text
    character(*), parameter :: nl = new_line('a')
    text = 'variant '//variant//nl//'code '//VersionText()//nl// &
           'grid '//identity%shape//' '//HashText(identity%grid)//nl// &
           'medium '//HashText(identity%medium)//nl// &
           'positions '//HashText(identity%positions)//nl// &
           'times '//Str(nt)//' '//HashText(identity%times)
  end function IdentityText

end module state_identity_m
