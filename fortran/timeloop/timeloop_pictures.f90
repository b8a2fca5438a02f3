!> When pictures of a shot are taken, how many they are, and their memory. Arguments stand in timeloop.f90.
submodule(timeloop_m) timeloop_pictures
  use checked_m, only: Above, Below, Whole
  use error_m, only: Fail
  use text_m, only: Str
  use gather_m, only: numbers_most
  implicit none

contains

  module procedure plan_pictures
    self%every = 0
    self%films = 0
    self%pictures = 0
    associate (s => self%scheme)
      if (.not. s%snapshot > 0) return
      self%every = Whole(s%snapshot/s%dt, 1)
      self%first_picture = Whole(Above(-s%t_start/s%dt + 0.5_dp - 1e-9_dp), 1)
      self%pictures = max(0, (self%last_recorded() - self%first_picture)/self%every + 1)
    end associate
  end procedure plan_pictures

  module procedure next_picture
    step = huge(step)
    if (self%every > 0 .and. self%taken < self%pictures) step = self%first_picture + self%taken*self%every
  end procedure next_picture

  module procedure last_recorded
    associate (s => self%scheme)
      step = Whole(Below(((s%nt_out - 1)*s%dt_out - s%t_start)/s%dt + 0.5_dp))
    end associate
  end procedure last_recorded

  module procedure picture_size
    integer :: f
    n = 0
    do f = 1, self%films
      n = n + product(int(self%film(f)%n, i8))
    end do
  end procedure picture_size

  module procedure room_for_films
    integer :: p, status
    if (real(self%picture_size(), dp)*max(1, self%pictures) > numbers_most) then
      call Fail(error, Str(self%pictures)//' pictures of '//Str(self%picture_size())//' numbers are too large, at most 2e9: '// &
                'take fewer (snapshot) or coarser ones ('//coarser//')')
      return
    end if
    do p = 1, size(self%film)
      associate (film => self%film(p))
        allocate (film%a(film%n(1), film%n(2), max(1, film%nt)), source=0.0_sp, stat=status)
        if (status /= 0) call Fail(error, 'no memory for '//Str(film%nt)//' pictures of '//Str(film%n(1))//' x '//Str(film%n(2))// &
                                   ' points: take fewer (snapshot) or coarser ones ('//coarser//')')
      end associate
    end do
  end procedure room_for_films

end submodule timeloop_pictures
