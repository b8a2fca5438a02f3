!> Every GPU variant of the 3D solver gives what the readable Fortran gives: half-lengths 1..4, elastic and anelastic, every kind of
!> side, odd grid sizes down to a few cells; water and air in the medium.
!>
!>     t670_fd3d_gpu [small | tiny] [VARIANT ...]   small: two half-lengths, one small grid, 9 steps; tiny: two kinds of sides, 3
!>                                                  steps, for checkers that slow everything down
!>     t670_fd3d_gpu device                         says only why there is no GPU, or nothing
program t670_fd3d_gpu
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use fd3dcase_m, only: case3d_t, Case3dDiffers, Case3dFortran, Case3dNative, Case3dNew, kinds_of_sides, result3d_t, SidesName
  use fd3d_variants_m, only: fd3d_variants
  use gpu_m, only: GpuAsked
  use kinds_m, only: dp
  use text_m, only: Str
  implicit none

  real(dp), parameter :: bound = 1.0e-5_dp
  integer, parameter :: sizes(3, 5) = reshape([41, 29, 33, 97, 23, 21, 19, 45, 26, 33, 17, 67, 7, 6, 9], [3, 5])
  integer, parameter :: small_sizes(3, 1) = reshape([37, 13, 15], [3, 1]), large(3, 1) = reshape([131, 75, 90], [3, 1])

  type(error_t), allocatable :: error
  character(24), allocatable :: variants(:)
  logical :: small, tiny, has(3)

  call GpuAsked(fd3d_variants, variants, [character(24) :: 'small', 'tiny', 'device'], has)
  small = has(1) .or. has(2)
  tiny = has(2)
  if (has(3)) variants = [character(24) ::]
  if (size(variants) > 0) call Walk()
  deallocate (variants)
  call Done()

contains

  subroutine Walk()
    integer :: half_length, sides, q
    do half_length = 1, 4
      if (small .and. half_length /= 2 .and. (tiny .or. half_length /= 4)) cycle
      do sides = 1, kinds_of_sides
        if (tiny .and. sides /= 2 .and. sides /= 5) cycle
        do q = 0, 2                                        ! elastic, one mechanism a cell, all of them
          if (q == 2 .and. (half_length + sides > 6 .or. tiny)) cycle
          if (small) then
            call Compare(half_length, sides, q, small_sizes, merge(3, 9, tiny))
          else
            call Compare(half_length, sides, q, sizes, 90)
            if (half_length == 2 .and. sides <= 3) call Compare(half_length, sides, q, large, 60)
          end if
        end do
      end do
    end do
  end subroutine Walk

  !> One shot on each of the grids by fortran and by every variant.
  subroutine Compare(half_length, sides, q, grids, nt)
    integer, intent(in) :: half_length, sides, q, grids(:, :), nt
    type(case3d_t) :: c
    type(result3d_t) :: reference, r
    real(dp) :: most(size(variants)), difference
    character(64) :: where_worst(size(variants))
    character(:), allocatable :: what, worst, grid
    integer :: n, v
    most = -1
    what = ', half-length '//Str(half_length)//', '//SidesName(sides)
    if (q > 0) what = what//', anelastic'
    if (q > 1) what = what//' by all mechanisms'
    do n = 1, size(grids, 2)
      grid = Str(grids(1, n))//' x '//Str(grids(2, n))//' x '//Str(grids(3, n))
      call Case3dNew(c, grids(:, n), half_length, sides, q > 0, nt, together=q > 1)
      c%hilly = modulo(sides, 2) == 0
      call Case3dFortran(c, reference, error)
      do v = 1, size(variants)
        if (.not. allocated(error)) call Case3dNative(trim(variants(v)), c, c%nt, r, error)
        if (allocated(error)) then
          call ClaimFine(error, trim(variants(v))//what//', '//grid)
          return
        end if
        call Case3dDiffers(c, r, reference, difference, worst)
        if (difference > most(v)) where_worst(v) = worst//' of '//grid
        most(v) = max(most(v), difference)
      end do
    end do
    do v = 1, size(variants)
      call Claim(most(v) <= bound, trim(variants(v))//what//', '//Str(size(grids, 2))//' grid(s), '//Str(nt)// &
                 ' steps: traces, fields and map differ from fortran by '//Str(most(v), 2)//' relative RMS at most ('// &
                 trim(where_worst(v))//'), <= 1e-5')
    end do
  end subroutine Compare

end program t670_fd3d_gpu
