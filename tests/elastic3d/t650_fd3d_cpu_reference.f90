!> The cpu variant of the 3D solver agrees with the readable Fortran: all half-lengths, elastic and not, all kinds of sides, layers
!> and sponge, rock, water and air side by side, every instruction set of this processor.
program t650_fd3d_cpu_reference
  use, intrinsic :: iso_c_binding, only: c_null_char, c_ptr
  use case3d_m, only: case3d_shapes, case3d_t, Case3dFields, Case3dFine, Case3dMake, Case3dNew, Case3dReference, Case3dTraces
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use fd3d_c, only: fd3d_tune
  use handle_c, only: handle_free, handle_timestep
  use kinds_m, only: sp
  use text_m, only: Str
  implicit none
  character(*), parameter :: isa(3) = [character(8) :: 'generic', 'avx2', 'avx512']
  real(sp), parameter :: bound = 1e-5_sp
  integer :: shape, L
  type(error_t), allocatable :: error

  do shape = 1, case3d_shapes
    call Compare(shape, 2, modulo(shape, 2) == 1)
    L = 1 + modulo(shape, 4)
    if (shape /= 9) call Compare(shape, L, modulo(shape, 2) == 0)
  end do
  call Done()

contains

  subroutine Compare(shape, L, anelastic)
    integer, intent(in) :: shape, L
    logical, intent(in) :: anelastic
    type(case3d_t) :: c
    type(c_ptr) :: h
    real(sp), allocatable :: fields(:, :, :, :), traces(:, :), f(:, :, :, :), t(:, :)
    real(sp) :: worst(2)
    integer :: n, m
    character(:), allocatable :: names
    call Case3dMake(c, shape, L, anelastic, 20)
    call Case3dReference(c, fields, traces, error)
    if (allocated(error)) call ClaimFine(error, 'reference of case '//Str(shape))
    worst = 0
    names = ''
    do n = 1, 3
      h = Case3dNew(c)
      if (fd3d_tune(h, trim(isa(n))//c_null_char, 0, 0, 0) == 0) then
        names = names//' '//trim(isa(n))
        call Case3dFine(handle_timestep(h, 1, c%steps), 'timestep')
        call Case3dFields(c, h, f)
        call Case3dTraces(c, h, t)
        do m = 0, 9
          worst(1) = max(worst(1), Apart(pack(f(:, :, :, m), .true.), pack(fields(:, :, :, m), .true.)))
        end do
        do m = 1, c%nrec
          worst(2) = max(worst(2), Apart(t(:, m), traces(:, m)))
        end do
      end if
      call handle_free(h)
    end do
    call Claim(all(worst <= bound), 'case '//Str(shape)//', half-length '//Str(L)//merge(', anelastic', '           ', anelastic)// &
               ':'//names//': fields and map differ by '//Str(worst(1), 2)//', traces by '//Str(worst(2), 2)//' <= '//Str(bound))
  end subroutine Compare

  !> Relative rms difference; not a number counts as a thousand.
  real(sp) function Apart(a, b)
    real(sp), intent(in) :: a(:), b(:)
    Apart = norm2(a - b)/max(norm2(b), tiny(1.0_sp))
    if (.not. Apart <= 1000) Apart = 1000
  end function Apart

end program t650_fd3d_cpu_reference
