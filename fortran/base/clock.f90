!> The time of day.
module clock_m
  use files_c, only: clock_parse, clock_seconds, clock_text
  use kinds_m, only: dp
  implicit none
  private
  public :: ClockSeconds, ClockText, ClockParse

contains

  !> Now, in seconds since 1970-01-01 00:00:00 UTC.
  real(dp) function ClockSeconds()
    ClockSeconds = clock_seconds()
  end function ClockSeconds

  !> "2026-01-31T23:59:59Z"
  function ClockText(seconds) result(text)
    real(dp), intent(in) :: seconds
    character(20) :: text
    call clock_text(seconds, text)
  end function ClockText

  !> The way back; -1 if `text` is no such time.
  real(dp) function ClockParse(text)
    character(20), intent(in) :: text
    ClockParse = clock_parse(text)
  end function ClockParse

end module clock_m
