!> Every GPU variant of the 3D solver gives what `cpu` gives where differences along layers are narrow, over a sea floor with a random
!> step in each column: grids, half-lengths, layers and sides by chance, elastic and anelastic, stresses kept or not.
!>
!>     t678_fd3d_gpu_narrow [VARIANT ...]
program t678_fd3d_gpu_narrow
  use check_m, only: Claim, ClaimFine, Done, GivenSeed, Seed
  use error_m, only: error_t
  use fd3dcase_m, only: case3d_t, Case3dDiffers, Case3dNative, Case3dNew, result3d_t, SidesName
  use fd3d_variants_m, only: fd3d_variants
  use gpu_m, only: GpuAsked
  use kinds_m, only: dp, sp
  use text_m, only: Str
  implicit none

  integer, parameter :: cases = 24, steps = 60, with_layers(4) = [1, 2, 7, 8]
  real(dp), parameter :: bound = 1.0e-5_dp, apart = 1.0e-3_dp
  character(24), allocatable :: variants(:)
  type(error_t), allocatable :: error
  logical :: none(0)
  integer :: n, number

  number = GivenSeed()
  print '(a,i0)', 'SEED=', number
  call Seed(number)
  call GpuAsked(fd3d_variants, variants, [character(24) ::], none)
  do n = 1, merge(cases, 0, size(variants) > 0)
    call Compare()
  end do
  deallocate (variants)
  call Done()

contains

  !> A shot by cpu and by every variant; by cpu also with full differences, which gives something else.
  subroutine Compare()
    type(case3d_t) :: c
    type(result3d_t) :: reference, r
    character(:), allocatable :: what, worst
    real(dp) :: difference
    integer :: half_length, sides, q, v, grid(3)
    half_length = Pick(2, 4)
    sides = with_layers(Pick(1, 4))
    q = Pick(0, 2)                                         ! elastic, one mechanism a cell, all of them
    grid = [Pick(9, 110), Pick(9, 50), Pick(12, 50)]
    call Case3dNew(c, grid, half_length, sides, q > 0, steps, together=q > 1)
    c%grid%narrow = .true.
    c%grid%sparse = Pick(0, 1) == 1
    call Floor(c)
    what = 'half-length '//Str(half_length)//', '//SidesName(sides)//', '//Str(grid(1))//' x '//Str(grid(2))//' x '//Str(grid(3))// &
           trim(merge(', anelastic', '           ', q > 0))//trim(merge(' by all mechanisms', '                  ', q > 1))// &
           trim(merge(', stresses not kept', '                   ', c%grid%sparse))
    call Case3dNative('cpu', c, steps, reference, error)
    do v = 1, size(variants)
      if (.not. allocated(error)) call Case3dNative(trim(variants(v)), c, steps, r, error)
      if (allocated(error)) then
        call ClaimFine(error, trim(variants(v))//', '//what)
        return
      end if
      call Case3dDiffers(c, r, reference, difference, worst)
      call Claim(difference <= bound, trim(variants(v))//', '//what//': differs from cpu by '//Str(difference, 2)//' relative RMS at most ('// &
                 worst//'), <= 1e-5')
    end do
    c%grid%narrow = .false.
    if (.not. allocated(error)) call Case3dNative('cpu', c, steps, r, error)
    call ClaimFine(error, 'full differences, '//what)
    call Case3dDiffers(c, r, reference, difference, worst)
    call Claim(difference > apart, what//': full differences give something else, by '//Str(difference, 2)//' > '//Str(apart))
  end subroutine Compare

  !> Water over the rock, which begins somewhere in the middle third, at another depth in each column.
  subroutine Floor(c)
    type(case3d_t), intent(inout) :: c
    integer :: i, j, k
    do j = 0, c%grid%n(2) + 1
      do i = 0, c%grid%n(1) + 1
        k = Pick(c%grid%n(3)/3, c%grid%n(3)/3 + 3)
        c%rho(i, j, :k - 1) = 1000
        c%mu(i, j, :k - 1) = 0
        c%lambda(i, j, :k - 1) = 1000*1500.0_sp**2
        c%rho(i, j, k:) = max(c%rho(i, j, k:), 2000.0_sp)
        c%mu(i, j, k:) = max(c%mu(i, j, k:), 2000*1700.0_sp**2)
        c%lambda(i, j, k:) = max(c%lambda(i, j, k:), 2000*1700.0_sp**2)
      end do
    end do
  end subroutine Floor

  integer function Pick(least, most)
    integer, intent(in) :: least, most
    real(dp) :: u
    call random_number(u)
    Pick = min(most, least + int(u*(most - least + 1)))
  end function Pick

end program t678_fd3d_gpu_narrow
