!> Raw models whose axes are mixed up raise a doubt, whatever the rock; sound ones do not.
program t303_model_axes
  use check_m, only: Claim, ClaimFine, Done
  use error_m, only: error_t
  use kinds_m, only: sp
  use model_m, only: model_t, ModelForget, ModelRead
  use parameters_m, only: job_t
  use raw_layout_m, only: RawLayoutDoubt
  use text_m, only: Str
  implicit none
  character(9), parameter :: rocks(6) = [character(9) :: 'gradient', 'layers', 'dipping', 'a lens', 'noise', 'constant']
  integer, parameter :: orders(3, 6) = reshape([1, 2, 3, 1, 3, 2, 2, 1, 3, 2, 3, 1, 3, 1, 2, 3, 2, 1], [3, 6])   ! places of x, y, z

  call Sections()
  call Volumes()
  call Offered()
  call Told()
  call Done()

contains

  !> Rock number r at (x, y, z) samples.
  pure real(sp) function Rock(r, x, y, z)
    integer, intent(in) :: r, x, y, z
    select case (r)
    case (1)
      Rock = 1500 + 5*z
    case (2)
      Rock = 1500 + 300*real(z/7, sp)
    case (3)
      Rock = 1500 + 400*real((z + x/5 + y/9)/11, sp)
    case (4)
      Rock = 1500 + 3*z + merge(500, 0, (x - 20)**2 + 4*(z - 12)**2 + (y - 8)**2 < 80)
    case (5)
      Rock = 2000 + 200*real(modulo(x*x*7 + y*y*5 + z*29 + x*z, 13), sp)/12
    case default
      Rock = 2000
    end select
  end function Rock

  pure function Volume(r, n) result(a)
    integer, intent(in) :: r, n(3)
    real(sp), allocatable :: a(:, :)
    integer :: x, y, z
    allocate (a(n(1), n(2)*n(3)))
    do z = 1, n(3)
      do y = 1, n(2)
        do x = 1, n(1)
          a(x, (z - 1)*n(2) + y) = Rock(r, x - 1, y - 1, z - 1)
        end do
      end do
    end do
  end function Volume

  !> The numbers of a file of a(n) in one order, read as n in another.
  pure function Misread(a, n, of, m, as) result(b)
    real(sp), intent(in) :: a(:, :)
    integer, intent(in) :: n(3), of(3), m(3), as(3)
    real(sp) :: b(m(1), m(2)*m(3))
    real(sp), allocatable :: file(:)
    integer :: lengths(3), at(3), t
    lengths(of) = n
    allocate (file(size(a)))
    do t = 0, size(a) - 1
      at = [modulo(t, lengths(1)), modulo(t/lengths(1), lengths(2)), t/lengths(1)/lengths(2)]
      at = at(of)
      file(1 + t) = a(1 + at(1), 1 + at(3)*n(2) + at(2))
    end do
    lengths(as) = m
    do t = 0, size(a) - 1
      at = [modulo(t, lengths(1)), modulo(t/lengths(1), lengths(2)), t/lengths(1)/lengths(2)]
      at = at(as)
      b(1 + at(1), 1 + at(3)*m(2) + at(2)) = file(1 + t)
    end do
  end function Misread

  !> nx x nz samples; z runs fastest or x. The wrong stride is seen in all rock that is not uniform along a line or random.
  subroutine Sections()
    integer, parameter :: n(3) = [61, 1, 33], z_fast(3) = [2, 3, 1], x_fast(3) = [1, 3, 2]
    integer :: r
    character(:), allocatable :: right, wrong
    do r = 1, size(rocks)
      right = RawLayoutDoubt(Volume(r, n), n, z_fast)//RawLayoutDoubt(Volume(r, n), n, x_fast)
      call Claim(right == '', trim(rocks(r))//', 61 x 33, in either order: no doubt ('//right//')')
      if (r > 4) cycle
      wrong = RawLayoutDoubt(Misread(Volume(r, n), n, z_fast, n, x_fast), n, x_fast)
      call Claim(wrong == 'its numbers jump every 33 and not every 61', trim(rocks(r))//', z fastest read as x fastest: '//wrong)
      wrong = RawLayoutDoubt(Misread(Volume(r, n), n, z_fast, [33, 1, 61], z_fast), [33, 1, 61], z_fast)
      call Claim(wrong == 'its numbers jump every 33 and not every 61', trim(rocks(r))//', nx and nz exchanged: '//wrong)
    end do
  end subroutine Sections

  !> The true order of a volume raises no doubt when it is tried on samples read in another: then it is offered.
  subroutine Offered()
    integer, parameter :: n(3) = [41, 17, 29]
    integer :: r, i, j, doubts, right
    do r = 1, size(rocks)
      doubts = 0
      right = 0
      do i = 1, 6
        do j = 1, 6
          associate (read => Misread(Volume(r, n), n, orders(:, i), n, orders(:, j)))
            if (RawLayoutDoubt(read, n, orders(:, j)) == '') cycle
            doubts = doubts + 1
            if (RawLayoutDoubt(read, n, orders(:, j), orders(:, i)) == '') right = right + 1
          end associate
        end do
      end do
      call Claim(right == doubts, trim(rocks(r))//', read in a wrong order and doubted '//Str(doubts)//' times: the true order is '// &
                 'without doubt '//Str(right)//' times')
    end do
  end subroutine Offered

  !> Any of the six orders read as any other; where rock looks the same along two axes, nobody can tell them apart.
  subroutine Volumes()
    integer, parameter :: n(3) = [41, 17, 29]
    integer :: r, i, j, doubts, wrong
    do r = 1, size(rocks)
      doubts = 0
      wrong = 0
      do i = 1, 6
        do j = 1, 6
          if (RawLayoutDoubt(Misread(Volume(r, n), n, orders(:, i), n, orders(:, j)), n, orders(:, j)) == '') cycle
          if (i == j) wrong = wrong + 1
          if (i /= j) doubts = doubts + 1
        end do
      end do
      call Claim(wrong == 0, trim(rocks(r))//', a volume in any of six orders: '//Str(wrong)//' doubts')
      if (r == 3) call Claim(doubts >= 20, trim(rocks(r))//', read in a wrong order: doubted '//Str(doubts)//' of 30 times, >= 20')
    end do
  end subroutine Volumes

  !> The sentence.
  subroutine Told()
    type(job_t) :: job
    type(model_t) :: model
    type(error_t), allocatable :: error
    integer :: unit
    open (newunit=unit, file='section.raw', access='stream', form='unformatted', status='replace')
    write (unit) transpose(Volume(3, [61, 1, 33]))
    close (unit)
    job = job_t(vp='section.raw', rho='', vp_var='vp', rho_var='rho', model_format='raw32', model_order='xfast', &
                model_endian='little', vp_unit='m/s', rho_unit='kg/m3', rho_rule='constant', regrid='average', rho_value=1000, &
                model_nx=61, model_nz=33, model_dx=10, model_dz=10)
    call ModelRead(job, model, error)
    call ClaimFine(error, 'a section read in the wrong order')
    call Claim(index(model%doubts, "the axes of the velocity model 'section.raw' seem to be mixed up: its numbers jump every 33 and "// &
                     'not every 61; set model_order=zfast, or, where the model has 33 samples along x and 61 along z, exchange '// &
                     'model_nx and model_nz') == 1, 'and: '//model%doubts)
    job%model_order = 'zfast'
    call ModelRead(job, model, error)
    call Claim(model%doubts == '', 'the same in its own order: no doubt ('//model%doubts//')')
    call ModelForget(model)
  end subroutine Told

end program t303_model_axes
