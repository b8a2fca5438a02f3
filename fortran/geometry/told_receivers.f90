!> Receivers or sources of a survey that something is to be told of: how many, the first of them, and by how much one of them may be
!> off.
module told_receivers_m
  use kinds_m, only: dp
  use shot_m, only: shot_t
  use text_m, only: Str
  implicit none
  private
  public :: told_receivers_t, ToldAdd, ToldAgain, ToldBegin, ToldSource

  real(dp), parameter, public :: off_most = 0.05_dp   !< part of its RMS that a trace may be off: what is less is not told
  real(dp), parameter, public :: fade = 1.2_dp        !< d cells away from a contact exp(-fade d) of an error is left

  type :: told_receivers_t
    integer :: n = 0
    integer :: here = 0                       !< of them added since ToldBegin
    character(:), allocatable :: first        !< in words: channel, shot record and place
    real(dp) :: off = 0                       !< the largest part by which a trace may be off
  end type told_receivers_t

contains

  !> Adds receiver r of a shot. `across`: its place has a y.
  subroutine ToldAdd(told, shot, r, off, across)
    type(told_receivers_t), intent(inout) :: told
    type(shot_t), intent(in) :: shot
    integer, intent(in) :: r
    real(dp), intent(in) :: off
    logical, intent(in) :: across
    if (told%n == 0) then
      told%first = 'channel '//Str(shot%channel(r))//' of shot record '//Str(shot%record)//' at x = '//Str(shot%rx(r), 9)//', '
      if (across) told%first = told%first//'y = '//Str(shot%ry(r), 9)//', '
      told%first = told%first//'z = '//Str(shot%rz(r), 9)//' m'
    end if
    told%n = told%n + 1
    told%here = told%here + 1
    told%off = max(told%off, off)
  end subroutine ToldAdd

  !> Before the receivers of a shot are looked at.
  elemental subroutine ToldBegin(told)
    type(told_receivers_t), intent(inout) :: told
    told%here = 0
  end subroutine ToldBegin

  !> Adds those of the shot before once more.
  elemental subroutine ToldAgain(told)
    type(told_receivers_t), intent(inout) :: told
    told%n = told%n + told%here
  end subroutine ToldAgain

  !> Adds the source of a shot.
  subroutine ToldSource(told, shot)
    type(told_receivers_t), intent(inout) :: told
    type(shot_t), intent(in) :: shot
    if (told%n == 0) told%first = 'that of shot record '//Str(shot%record)//' at z = '//Str(shot%sz, 9)//' m'
    told%n = told%n + 1
  end subroutine ToldSource

end module told_receivers_m
