!> Where each cell has all mechanisms the cpu variant agrees with the readable Fortran, for every instruction set of this processor; gives
!> the same bits with other threads and tiles, and goes on from a state in another handle with the same bits.
program t619_fd3d_all_mechanisms
  use, intrinsic :: iso_c_binding, only: c_long_long, c_null_char, c_ptr
  use case3d_m, only: case3d_t, Case3dFine, Case3dMake, Case3dNew, Case3dResults, Case3dWorst
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use fd3d_c, only: fd3d_histories, fd3d_tune
  use handle_c, only: handle_free, handle_load, handle_save, handle_state_size, handle_timestep
  use kinds_m, only: sp
  use text_m, only: Str
  implicit none
  real(sp), parameter :: bound = 1e-5_sp
  integer, parameter :: steps = 16, half = 7
  type(error_t), allocatable :: error
  integer :: shape

  do shape = 1, 7, 2
    call Compare(shape, 1 + modulo(shape/2 + 1, 4))
  end do
  call Resume(3)
  call Resume(7)
  call Done()

contains

  subroutine Compare(shape, L)
    integer, intent(in) :: shape, L
    type(case3d_t) :: c
    type(c_ptr) :: h
    real(sp), allocatable :: first(:), second(:)
    real(sp) :: worst(2)
    character(:), allocatable :: names
    call Case3dMake(c, shape, L, .true., steps, together=.true.)
    call Case3dWorst(c, names, worst, error)
    if (allocated(error)) call ClaimFine(error, 'reference of case '//Str(shape))
    call Claim(all(worst <= bound), 'case '//Str(shape)//', half-length '//Str(L)//':'//names//': fields, map and traces differ by '// &
               Str(maxval(worst), 2)//' <= '//Str(bound))
    h = Case3dNew(c)
    call Case3dFine(handle_timestep(h, 1, steps), 'timestep')
    call Case3dResults(c, h, first)
    call handle_free(h)
    c%cfg%threads = 3
    h = Case3dNew(c)
    call Case3dFine(fd3d_tune(h, c_null_char, 2, 9, 2), 'tune')
    call Case3dFine(handle_timestep(h, 1, steps), 'timestep')
    call Case3dResults(c, h, second)
    call handle_free(h)
    call Claim(all(transfer(first, [0]) == transfer(second, [0])), 'case '//Str(shape)//': 3 threads and other tiles give the same '// &
               'bits ('//Str(count(first /= second))//' numbers differ)')
  end subroutine Compare

  subroutine Resume(shape)
    integer, intent(in) :: shape
    type(case3d_t) :: c
    type(c_ptr) :: h
    real(sp), allocatable :: first(:), second(:), state(:), q(:, :)
    call Case3dMake(c, shape, 2, .true., steps, together=.true.)
    h = Case3dNew(c)
    call Case3dFine(handle_timestep(h, 1, half), 'timestep')
    allocate (state(handle_state_size(h, half)))
    call Case3dFine(handle_save(h, size(state, kind=c_long_long), state), 'save')
    call Case3dFine(handle_timestep(h, half + 1, steps - half), 'timestep')
    call Case3dResults(c, h, first)
    call handle_free(h)
    h = Case3dNew(c)
    call Case3dFine(handle_timestep(h, 1, 2), 'timestep of another run')
    call Case3dFine(handle_load(h, 1, half, size(state, kind=c_long_long), state), 'load')
    allocate (q, source=c%q(:, half + 1:))
    call Case3dFine(fd3d_histories(h, half + 1, size(q, 2), q), 'histories')
    call Case3dFine(fd3d_histories(h, size(c%q, 2) + 1, 0, q), 'silence')
    call Case3dFine(handle_timestep(h, half + 1, steps - half), 'timestep')
    call Case3dResults(c, h, second)
    call handle_free(h)
    call Claim(all(transfer(first, [0]) == transfer(second, [0])), 'case '//Str(shape)//': a state of '//Str(size(state))// &
               ' numbers goes on in another handle with the same bits ('//Str(count(first /= second))//' numbers differ)')
  end subroutine Resume

end program t619_fd3d_all_mechanisms
