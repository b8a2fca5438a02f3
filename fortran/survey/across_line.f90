!> Distances across a line that 2D modelling leaves out, at most, over all shots: for the log and the output.
module across_line_m
  use attributes_m, only: attributes_t
  use kinds_m, only: dp, pi
  use shot_m, only: shot_t
  use text_m, only: Str
  implicit none
  private
  public :: across_line_t, AcrossShot, AcrossWords, AcrossAttributes

  real(dp), parameter :: least = 0.005_dp     !< [m] that is worth a word: half the centimetre of navigation

  type :: across_line_t
    real(dp) :: source = 0                    !< of sources from the line y = 0 [m]
    real(dp) :: receiver = 0                  !< of receivers from their source along y [m]
    real(dp) :: feather = 0                   !< angle at the source from the line to the receiver farthest away [degrees]
    real(dp) :: offset = 0                    !< of true offsets beyond those along x [m]
    integer :: source_record = 0, record = 0  !< shots of these sources, and of these receivers
  end type across_line_t

contains

  !> Looks at a shot; its receivers are where they truly are.
  pure subroutine AcrossShot(across, shot)
    type(across_line_t), intent(inout) :: across
    type(shot_t), intent(in) :: shot
    real(dp) :: far
    integer :: r
    if (abs(shot%sy) > across%source) then
      across%source = abs(shot%sy)
      across%source_record = shot%record
    end if
    far = maxval(abs(shot%ry - shot%sy))
    if (far > across%receiver) then
      across%receiver = far
      across%record = shot%record
    end if
    r = maxloc((shot%rx - shot%sx)**2 + (shot%ry - shot%sy)**2, 1)
    if (far > least) across%feather = max(across%feather, atan2(abs(shot%ry(r) - shot%sy), abs(shot%rx(r) - shot%sx))* &
                                                          180/pi)
    across%offset = max(across%offset, maxval(hypot(shot%rx - shot%sx, shot%ry - shot%sy) - abs(shot%rx - shot%sx)))
  end subroutine AcrossShot

  !> A sentence, '' where nothing is left out. kept: receivers were moved to their true offset.
  pure function AcrossWords(across, kept) result(words)
    type(across_line_t), intent(in) :: across
    logical, intent(in) :: kept
    character(:), allocatable :: words
    words = ''
    if (max(across%source, across%receiver) <= least) return
    words = 'y left out: '
    if (across%source > least) words = words//'sources up to '//Str(across%source, 6)//' m off y = 0 (shot '// &
                                       Str(across%source_record)//')'
    if (across%receiver <= least) return
    if (across%source > least) words = words//', '
    words = words//'receivers up to '//Str(across%receiver, 6)//' m across from their source (shot '//Str(across%record)// &
            '), feathering up to '//Str(across%feather, 4)//' degrees; true offsets are up to '//Str(across%offset, 5)// &
            ' m longer than along x'
    if (kept) words = words//', and are kept'
  end function AcrossWords

  !> The same numbers as attributes of the output; none where nothing is left out.
  subroutine AcrossAttributes(across, attributes)
    type(across_line_t), intent(in) :: across
    class(attributes_t), intent(inout) :: attributes
    if (max(across%source, across%receiver) <= least) return
    call attributes%add('ignored_source_across_m', across%source)
    call attributes%add('ignored_receiver_across_m', across%receiver)
    call attributes%add('ignored_feathering_degrees', across%feather)
    call attributes%add('ignored_offset_m', across%offset)
  end subroutine AcrossAttributes

end module across_line_m
