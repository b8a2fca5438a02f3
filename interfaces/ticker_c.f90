!> A thread that does something at regular times, whatever the program's own thread waits for.
module ticker_c
  use iso_c_binding, only: c_double, c_funptr, c_int
  implicit none
  private
  public :: ticker_begin, ticker_end

  interface
    !> From now on `procedure`, an int(void), is called each so many `seconds`, at first at once, on a thread of its own, until it
    !> returns other than 0. There is one such thread in a process, and signals do not reach it. 1 if it runs, 0 if it cannot be
    !> started or one runs already.
    integer(c_int) function ticker_begin(procedure, seconds) bind(c)
      import :: c_double, c_funptr, c_int
      implicit none
      type(c_funptr), value :: procedure
      real(c_double), value :: seconds
    end function ticker_begin

    !> Not any more; back when no call is under way. 1 if there was such a thread, else 0.
    integer(c_int) function ticker_end() bind(c)
      import :: c_int
      implicit none
    end function ticker_end
  end interface
end module ticker_c
