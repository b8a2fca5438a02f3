!> Behaviour of the cpu variant of the 3D solver beside its numbers: reset, states in another handle, maps, the largest velocity,
!> memory told beforehand, and refusals.
program t652_fd3d_cpu_behaviour
  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value
  use, intrinsic :: iso_c_binding, only: c_char, c_float, c_int, c_long, c_long_long, c_null_char, c_ptr
  use case3d_m, only: case3d_t, Case3dFine, Case3dMake, Case3dNew, Case3dResults
  use check_m, only: Claim, ClaimFails, Done
  use error_m, only: error_t, FailFromC
  use fd3d_c, only: fd3d_field, fd3d_histories, fd3d_need, fd3d_set_field, fd3d_slice, fd3d_stress, fd3d_tune, fd3d_velocity
  use handle_c, only: handle_bytes, handle_device, handle_free, handle_load, handle_maxabs, handle_reset, handle_save, &
                      handle_state_size, handle_timestep
  use map3d_m, only: map3d_entries
  use kinds_m, only: sp
  use text_m, only: Str
  implicit none
  integer, parameter :: steps = 16
  integer, parameter :: shapes(4) = [3, 5, 7, 2]
  type(error_t), allocatable :: error
  integer :: n

  do n = 1, size(shapes)
    call Again(shapes(n), modulo(n, 2) == 1)
    call Resume(shapes(n), modulo(n, 2) == 1)
  end do
  call Largest()
  call Slices()
  call Memory()
  call Refusals()
  call Done()

contains

  subroutine Begin(c, h)
    type(case3d_t), intent(in) :: c
    type(c_ptr), intent(in) :: h
    integer :: f
    call Case3dFine(fd3d_histories(h, 1, size(c%q, 2), c%q), 'histories')
    call Case3dFine(fd3d_histories(h, size(c%q, 2) + 1, 0, c%q), 'silence')
    do f = 0, 8
      call Case3dFine(fd3d_set_field(h, f, c%begin(:, :, :, f)), 'set_field')
    end do
  end subroutine Begin

  subroutine Again(shape, anelastic)
    integer, intent(in) :: shape
    logical, intent(in) :: anelastic
    type(case3d_t) :: c
    type(c_ptr) :: h
    real(sp), allocatable :: first(:), second(:)
    call Case3dMake(c, shape, 2, anelastic, steps)
    h = Case3dNew(c)
    call Case3dFine(handle_timestep(h, 1, steps), 'timestep')
    call Case3dResults(c, h, first)
    call Case3dFine(handle_reset(h), 'reset')
    call Begin(c, h)
    call Case3dFine(handle_timestep(h, 1, steps), 'timestep')
    call Case3dResults(c, h, second)
    call handle_free(h)
    call Claim(all(transfer(first, [0]) == transfer(second, [0])), 'case '//Str(shape)// &
               ': after a reset the same run gives the same bits ('//Str(count(first /= second))//' numbers differ)')
  end subroutine Again

  subroutine Resume(shape, anelastic)
    integer, intent(in) :: shape
    logical, intent(in) :: anelastic
    type(case3d_t) :: c
    type(c_ptr) :: h
    real(sp), allocatable :: first(:), second(:), state(:), q(:, :)
    integer, parameter :: half = 7
    call Case3dMake(c, shape, 2, anelastic, steps)
    h = Case3dNew(c)
    call Case3dFine(handle_timestep(h, 1, half), 'timestep')
    allocate (state(handle_state_size(h, half)))
    call Case3dFine(handle_save(h, size(state, kind=c_long_long), state), 'save')
    call Case3dFine(handle_timestep(h, half + 1, steps - half), 'timestep')
    call Case3dResults(c, h, first)
    call handle_free(h)
    c%cfg%threads = 3
    h = Case3dNew(c)
    call Case3dFine(handle_timestep(h, 1, 2), 'timestep of another run')
    call Case3dFine(handle_load(h, 1, half, size(state, kind=c_long_long), state), 'load')
    allocate (q, source=c%q(:, half + 1:))
    call Case3dFine(fd3d_histories(h, half + 1, size(q, 2), q), 'histories')
    call Case3dFine(fd3d_histories(h, size(c%q, 2) + 1, 0, q), 'silence')
    call Case3dFine(fd3d_tune(h, c_null_char, 2, 9, 2), 'tune')
    call Case3dFine(handle_timestep(h, half + 1, steps - half), 'timestep')
    call Case3dResults(c, h, second)
    call handle_free(h)
    call Claim(all(transfer(first, [0]) == transfer(second, [0])), 'case '//Str(shape)//': a state of '//Str(size(state))// &
               ' numbers goes on in another handle with the same bits ('//Str(count(first /= second))//' numbers differ)')
  end subroutine Resume

  subroutine Largest()
    type(case3d_t) :: c
    type(c_ptr) :: h
    real(sp), allocatable :: v(:, :, :)
    real(c_float) :: value
    integer(c_int) :: at(3)
    call Case3dMake(c, 3, 2, .false., steps)
    h = Case3dNew(c)
    allocate (v, source=1e-3_sp*c%begin(:, :, :, 1))
    v(38, 11, 20) = -1
    call Case3dFine(fd3d_set_field(h, 1, v), 'set_field')
    call Case3dFine(handle_maxabs(h, value, at), 'maxabs')
    call Claim(value == 1 .and. all(at == [37, 10, 19]), 'the largest velocity is '//Str(value)//' at ('//Str(at(1))//', '// &
               Str(at(2))//', '//Str(at(3))//'), put at (37, 10, 19)')
    v(5, 6, 7) = ieee_value(1.0_sp, ieee_quiet_nan)
    call Case3dFine(fd3d_set_field(h, 1, v), 'set_field')
    call Case3dFine(handle_maxabs(h, value, at), 'maxabs')
    call Claim(value > huge(1.0_sp) .and. all(at == [4, 5, 6]), 'a velocity that is not a number counts as infinite, at ('// &
               Str(at(1))//', '//Str(at(2))//', '//Str(at(3))//')')
    call handle_free(h)
  end subroutine Largest

  subroutine Slices()
    type(case3d_t) :: c
    type(c_ptr) :: h
    real(sp), allocatable :: f(:, :, :), x(:, :), y(:, :), z(:, :)
    call Case3dMake(c, 2, 3, .true., steps)
    h = Case3dNew(c)
    call Case3dFine(handle_timestep(h, 1, steps), 'timestep')
    allocate (f(c%cfg%n(1), c%cfg%n(2), c%cfg%n(3)), x(c%cfg%n(2), c%cfg%n(3)), y(c%cfg%n(1), c%cfg%n(3)), &
              z(c%cfg%n(1), c%cfg%n(2)))
    call Case3dFine(fd3d_field(h, 7, f), 'field')
    call Case3dFine(fd3d_slice(h, 7, 0, 10, x), 'slice')
    call Case3dFine(fd3d_slice(h, 7, 1, 11, y), 'slice')
    call Case3dFine(fd3d_slice(h, 7, 2, 12, z), 'slice')
    call handle_free(h)
    call Claim(all(x == f(11, :, :)) .and. all(y == f(:, 12, :)) .and. all(z == f(:, :, 13)), &
               'slices along the three axes are those of the field')
  end subroutine Slices

  !> A handle with points and traces takes the memory that was told beforehand, or less.
  subroutine Memory()
    type(case3d_t) :: c
    type(c_ptr) :: h
    integer(c_long) :: host, device
    integer(c_long_long) :: held
    integer :: m
    do m = 1, size(shapes)
      call Case3dMake(c, shapes(m), 2, modulo(m, 2) == 0, steps)
      c%hilly = .false.
      h = Case3dNew(c)
      call Case3dFine(handle_timestep(h, 1, steps), 'timestep')
      call Case3dFine(fd3d_need('cpu'//c_null_char, c%cfg, size(c%si), c%nrec, steps, product(c%cfg%n(:2)), map3d_entries, host, device), &
                      'need')
      held = handle_bytes(h)
      call Claim(device == 0 .and. held <= host .and. 10*host <= 13*held, 'case '//Str(shapes(m))//': '// &
                 Str(int(host/1000))//' kB foretold, '//Str(int(held/1000))//' kB held, within 30 %')
      call handle_free(h)
    end do
  end subroutine Memory

  subroutine Refused(rc, words, what)
    integer(c_int), intent(in) :: rc
    character(*), intent(in) :: words, what
    if (allocated(error)) deallocate (error)
    call FailFromC(rc, error)
    call ClaimFails(error, words, what)
  end subroutine Refused

  subroutine Refusals()
    type(case3d_t) :: c
    type(c_ptr) :: h
    character(kind=c_char) :: text(40)
    call Case3dMake(c, 4, 2, .false., steps)
    h = Case3dNew(c)
    call Refused(fd3d_tune(h, 'mmx'//c_null_char, 0, 0, 0), 'no instruction set', 'an instruction set nobody has')
    call Refused(handle_timestep(h, 0, 2), 'count from 1', 'step 0')
    call Case3dFine(handle_timestep(h, 1, 2), 'timestep')
    call Refused(handle_timestep(h, 5, 1), 'next step is 3', 'a step left out')
    call Refused(fd3d_stress(h, 3, 0), 'not what comes next', 'stresses before velocities')
    call Case3dFine(fd3d_velocity(h, 3, 0), 'velocity')
    call Refused(handle_timestep(h, 4, 1), 'in the middle', 'whole steps after half of one')
    call Case3dFine(fd3d_stress(h, 3, 0), 'stress')
    call Case3dFine(handle_timestep(h, 4, 1), 'timestep')
    call Case3dFine(handle_device(h, size(text), text), 'device')
    call Claim(any(text == '2') .and. any(text == 't'), 'the device tells its threads: '//Join(text))
    call handle_free(h)
  end subroutine Refusals

  function Join(text) result(line)
    character(kind=c_char), intent(in) :: text(:)
    character(:), allocatable :: line
    integer :: m
    line = ''
    do m = 1, size(text)
      if (text(m) == c_null_char) exit
      line = line//text(m)
    end do
  end function Join

end program t652_fd3d_cpu_behaviour
