!> Models of more samples than 31 bits count, and more bytes than 32 bits do: small boxes at their far corners are read from disk, and
!> a change of the file is noticed. The files are holes but for a few numbers.
program t304_huge_models
  use check_m, only: Claim, ClaimFails, ClaimFine, Done
  use elastic3d_m, only: elastic3d_t
  use error_m, only: error_t
  use job_m, only: JobFromText
  use kinds_m, only: dp, i8, sp
  use model3d_m, only: model3d_t, Model3dPart
  use model3d_window_m, only: Model3dFill, Model3dShape
  use model_checksum_m, only: ModelChecksumMake
  use model_samples_m, only: part_t
  use parameter_table_m, only: table_t
  use parameters_m, only: job_t
  use shot_m, only: shot_t
  use text_m, only: Str
  use window_m, only: box_t, window_t
  implicit none
  character, parameter :: nl = new_line('a')
  integer, parameter :: n(3) = [1400, 1300, 1200], few = 5
  type(elastic3d_t) :: physics
  type(error_t), allocatable :: error
  type(job_t) :: job

  call Claim(product(int(n, i8)) > 2_i8**31, Str(product(int(n, i8)))//' samples')
  call Orders('raw32', 4)
  call Orders('raw64', 8)
  call OneWindow()
  call Done()

contains

  subroutine Settings(text)
    character(*), intent(in) :: text
    type(table_t) :: t
    job = job_t()
    call JobFromText(physics, 'vp = huge.raw'//nl//'vp_vs = 2'//nl//'model_nx = '//Str(n(1))//nl//'model_ny = '//Str(n(2))//nl// &
                     'model_nz = '//Str(n(3))//nl//'model_dx = 10'//nl//'model_dy = 10'//nl//'model_dz = 10'//nl//text, job, t, error)
    if (allocated(error)) call ClaimFine(error, 'settings '//text)
  end subroutine Settings

  !> The sample of a place: all different near the corners, and no two corners alike.
  pure elemental real(sp) function Velocity(i, j, k)
    integer, intent(in) :: i, j, k
    Velocity = real(1500 + modulo(i, 97) + 97*modulo(j, 13) + 1261*modulo(k, 5), sp)
  end function Velocity

  !> Writes the file of so many bytes a number, with the numbers in boxes from the corners `low`, fastest index first as in `of`.
  subroutine PutCorners(low, of, width)
    integer, intent(in) :: low(:, :), of(3), width
    integer :: unit, c, i, j, k, at(3), m(3)
    integer(i8) :: place
    m = n(of)
    open (newunit=unit, file='huge.raw', access='stream', form='unformatted', status='replace', action='write')
    write (unit, pos=width*product(int(n, i8))) ' '
    do c = 1, size(low, 2)
      do k = low(3, c), low(3, c) + few - 1
        do j = low(2, c), low(2, c) + few - 1
          do i = low(1, c), low(1, c) + few - 1
            at = [i, j, k]
            at = at(of)
            place = ((at(3) - 1_i8)*m(2) + at(2) - 1)*m(1) + at(1)
            if (width == 4) write (unit, pos=width*(place - 1) + 1) Velocity(i, j, k)
            if (width == 8) write (unit, pos=width*(place - 1) + 1) real(Velocity(i, j, k), dp)
          end do
        end do
      end do
    end do
    close (unit)
  end subroutine PutCorners

  !> The corners of a box: all eight of the model, and one about the 2**31-th sample.
  function Corners() result(low)
    integer :: low(3, 9), c, a
    integer(i8) :: middle
    do c = 1, 8
      do a = 1, 3
        low(a, c) = merge(1, n(a) - few + 1, modulo((c - 1)/2**(a - 1), 2) == 0)
      end do
    end do
    middle = 2_i8**31 - 1
    low(:, 9) = [int(modulo(middle, int(n(1), i8))) - 2, int(modulo(middle/n(1), int(n(2), i8))) - 2, int(middle/n(1)/n(2)) - 2]
  end function Corners

  !> Parts of files of three orders.
  subroutine Orders(format, width)
    character(*), intent(in) :: format
    integer, intent(in) :: width
    character(3), parameter :: order(3) = [character(3) :: 'xyz', 'yxz', 'zyx']
    type(model3d_t) :: whole, slab
    integer :: low(3, 9), of(3), o, c, i, j, k
    logical :: good
    low = Corners()
    whole%n = n
    do o = 1, size(order)
      of = [(index('xyz', order(o)(i:i)), i=1, 3)]
      call PutCorners(low, of, width)
      call Settings('model_format = '//format//nl//'model_order = '//order(o)//nl)
      good = .true.
      do c = 1, size(low, 2)
        call Model3dPart(job, whole, part_t(low(:, c), low(:, c) + few - 1), slab, error)
        if (allocated(error)) exit
        good = good .and. all(shape(slab%vp) == [few, few*few]) .and. all(abs(slab%vs - slab%vp/2) <= 0)
        if (good) good = all(abs(reshape(slab%vp, [few, few, few]) - reshape([(((Velocity(i, j, k), i=low(1, c), low(1, c) + few - 1), &
          j=low(2, c), low(2, c) + few - 1), k=low(3, c), low(3, c) + few - 1)], [few, few, few])) <= 0)
      end do
      call ClaimFine(error, format//', '//order(o))
      call Claim(good, 'corners of '//format//', '//order(o)//', '//Str(width*product(int(n, i8)))//' bytes: each number in its place')
    end do
  end subroutine Orders

  !> A window of all of it, and boxes of that.
  subroutine OneWindow()
    type(model3d_t) :: earth, slab
    type(window_t) :: window
    type(shot_t) :: shot
    type(box_t) :: box
    integer :: low(3, 9), c, i, j, k
    logical :: good
    low = Corners()
    call PutCorners(low, [1, 2, 3], 4)
    call Settings('aperture = -1'//nl)
    earth%on_disk = .true.
    earth%n = n
    earth%d = 10
    earth%x0 = 5
    earth%high = 10*n
    shot%record = 1
    shot%sx = 7000
    shot%sy = 6000
    shot%sz = 100
    shot%rx = [7000.0_dp]
    shot%ry = [6000.0_dp]
    shot%rz = [100.0_dp]
    call Model3dShape(earth, job, shot, window, error)
    call ClaimFine(error, 'the window')
    call Claim(all([window%nx, window%ny, window%nz] == n), 'has all of them')
    good = .true.
    do c = 1, size(low, 2)
      box = box_t(low(:, c), low(:, c) + few - 1)
      call Model3dFill(earth, job, box, window, error)
      if (allocated(error)) exit
      associate (l => box%low, h => box%high)
        good = good .and. all(abs([window%medium(:, :, :, 1)] - [(((Velocity(i, j, k), i=l(1), h(1)), j=l(2), h(2)), k=l(3), h(3))]) &
                              <= 0)
      end associate
    end do
    call ClaimFine(error, 'its boxes')
    call Claim(good, 'each cell is the sample of its place')
    ! The checksums of all rows but those of the box are none of anything that could be read.
    call Model3dPart(job, earth, part_t([1, n(2) - few + 1, n(3)], n), slab, error)
    call ModelChecksumMake(slab%vp, slab%vs, earth%checksum(1))
    associate (sum => earth%checksum(1)%sum)
      earth%checksum(1)%sum = reshape([(-1_i8, i=1, size(sum, 1)*(n(2)*n(3) - few)), sum], [size(sum, 1), n(2)*n(3)])
    end associate
    box = box_t([n(1) - few + 1, n(2) - few + 1, n(3)], n)
    call Model3dFill(earth, job, box, window, error)
    call ClaimFine(error, 'a box whose rows have their checksums')
    call Model3dFill(earth, job, box_t(n - few, n), window, error)
    call ClaimFails(error, 'not what it was when the job began: samples '//Str(n(3) - few)//' .. '//Str(n(3))//' along z of ''huge', &
                    'one with a row that has another one')
  end subroutine OneWindow

end program t304_huge_models
