!> The cpu variant of the 3D solver agrees with the readable Fortran: all half-lengths, elastic and not, all kinds of sides, layers
!> and sponge, rock, water and air side by side, every instruction set of this processor.
program t650_fd3d_cpu_reference
  use case3d_m, only: case3d_shapes, case3d_t, Case3dMake, Case3dWorst
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use kinds_m, only: sp
  use text_m, only: Str
  implicit none
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
    real(sp) :: worst(2)
    character(:), allocatable :: names
    call Case3dMake(c, shape, L, anelastic, 20)
    call Case3dWorst(c, names, worst, error)
    if (allocated(error)) call ClaimFine(error, 'reference of case '//Str(shape))
    call Claim(all(worst <= bound), 'case '//Str(shape)//', half-length '//Str(L)//merge(', anelastic', '           ', anelastic)// &
               ':'//names//': fields and map differ by '//Str(worst(1), 2)//', traces by '//Str(worst(2), 2)//' <= '//Str(bound))
  end subroutine Compare

end program t650_fd3d_cpu_reference
