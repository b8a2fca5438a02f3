!> Doubling layers of the own mesher: random decks - hills, basins, water, layers that end, 8 and 27 nodes, sponges - make meshes that
!> pass the check of meshes, fill the box, whose faces all have one other or lie in a side set, and are the same when made again. By
!> velocity no element is wider than its medium allows, and where nothing doubles the mesh is the one without. By depth they are where
!> they should be; where there is no room is told. SEED may be given.
program t863_sem_doubling
  use check_m, only: Claim, ClaimFails, ClaimFine, Done, Seed
  use elements_dt_m, only: ElementsDt
  use elements_m, only: elements_t, in_element
  use elements_make_m, only: counts_t, ElementsMake
  use error_m, only: error_t
  use gll_m, only: gll_w
  use hexahedron_m, only: Determinant, HexJacobians
  use kinds_m, only: dp
  use layer_table_m, only: layer_table_t, LayersRead
  use mesh_blocks_m, only: ShapeOf
  use mesh_check_m, only: MeshCheck
  use mesh_doubling_m, only: DoublingRead
  use mesh_layers_m, only: layers_box_t, MeshLayers
  use mesh_m, only: mesh_t, MeshFaces
  use text_m, only: Str
  implicit none
  type(error_t), allocatable :: error
  character(32) :: word
  integer :: number, i, clock
  call get_environment_variable('SEED', word)
  call system_clock(clock)
  number = modulo(clock, 100000)
  if (word /= '') read (word, *) number
  call Seed(number)
  do i = 1, 12
    call RandomMesh(i)
  end do
  call Pushed()
  call Holed()
  call Shapes()
  call Depths()
  call Refused()
  call Done()

contains

  subroutine Table(line, t)
    character(*), intent(in) :: line(:)
    type(layer_table_t), intent(out) :: t
    integer :: unit, k
    open (newunit=unit, file='d.layers', action='write')
    do k = 1, size(line)
      write (unit, '(a)') trim(line(k))
    end do
    close (unit)
    call LayersRead('d.layers', t, error)
  end subroutine Table

  real(dp) function From(low, high)
    real(dp), intent(in) :: low, high
    call random_number(From)
    From = low + (high - low)*From
  end function From

  ! --- by velocity ----------------------------------------------------------------------------------------------------------

  !> Layers whose slowest waves become 1.2 to 5 times as fast from one to the next; the first is a lake in every third mesh, a layer
  !> ends in every fourth.
  subroutine RandomMesh(m)
    integer, intent(in) :: m
    type(layer_table_t) :: t
    type(layers_box_t) :: box
    type(mesh_t) :: mesh, even, again
    character(:), allocatable :: words, name
    character(160), allocatable :: line(:)
    real(dp) :: z, r(5)
    integer :: k, layers
    layers = 2 + modulo(m, 3)
    box%x = [0.0_dp, From(1500.0_dp, 2600.0_dp)]
    box%y = [-300.0_dp, From(700.0_dp, 1900.0_dp)]
    box%width = From(90.0_dp, 130.0_dp)
    allocate (line(layers), box%widest(layers), box%fluid(layers))
    box%fluid = .false.
    box%widest(1) = box%width(1)*From(1.0_dp, 1.3_dp)
    z = 0
    do k = 1, layers
      if (k > 1) box%widest(k) = box%widest(k - 1)*From(1.2_dp, merge(5.0_dp, 2.5_dp, k == 2))
      r = [From(0.0_dp, 60.0_dp), From(300.0_dp, 1500.0_dp), From(0.0_dp, 900.0_dp), From(300.0_dp, 700.0_dp), From(0.8_dp, 3.0_dp)]
      line(k) = 'l'//Str(k)//' '//Str(z, 6)//'-'//Str(r(1), 4)//'*exp(-((x-'//Str(r(2), 5)//')^2+(y-'//Str(r(3), 5)//')^2)/'// &
                Str(r(4), 4)//'^2)'
      if (k == layers - 1 .and. k > 1 .and. modulo(m, 4) == 0) line(k) = 'l'//Str(k)//' '//Str(z, 6)//'+0.3*(x-900)'
      z = z + box%widest(k)*r(5)
    end do
    if (modulo(m, 3) == 0) then
      line(1) = 'l1 0'
      line(2) = 'l2 '//Str(box%widest(1), 6)//'*(1.2*exp(-((x-600)^2+(y-500)^2)/500^2)-0.5)'
      box%fluid(1) = .true.
    end if
    box%height = box%widest
    box%fastest = 20*box%widest
    box%bottom = z + 12*box%widest(layers)
    if (modulo(m, 2) == 0) box%sponge = From(50.0_dp, 400.0_dp)
    box%per = merge(27, 8, modulo(m, 5) == 1)
    box%thinnest = From(0.2_dp, 0.6_dp)
    call Table(line, t)
    name = 'seed '//Str(number)//', mesh '//Str(m)//': '
    if (.not. allocated(error)) call MeshLayers(t, box, even, words, error)
    call ClaimFine(error, name//words)
    box%doubles = .true.
    call MeshLayers(t, box, mesh, words, error)
    if (.not. allocated(error)) call MeshCheck(mesh, error)
    call ClaimFine(error, name//words)
    if (size(mesh%block) == size(even%block)) then
      call Claim(Same(mesh, even), 'nothing doubles: the mesh without')
    else
      call Claim(size(mesh%block) < 0.9_dp*size(even%block), 'a tenth of the elements is saved, or more: '//Str(size(mesh%block))// &
                 ' of '//Str(size(even%block)))
    end if
    call Whole(mesh, even)
    call Claim(Widest(mesh, box) <= 1 + 1.0e-6_dp, 'elements are at most as wide as their medium allows: '// &
               Str(Widest(mesh, box), 8)//' of it')
    call MeshLayers(t, box, again, words, error)
    call Claim(Same(mesh, again), 'made again it is the same, bit for bit')
  end subroutine RandomMesh

  !> Rows of rock reach up into soil at the end of the rock; elements of soil must not be wide.
  subroutine Pushed()
    type(layer_table_t) :: t
    type(layers_box_t) :: box
    type(mesh_t) :: mesh
    character(:), allocatable :: words
    call Table(['l1 0          ', 'l2 1000+0.2*x '], t)
    box%x = [0, 2000]
    box%y = [0, 1600]
    box%bottom = 2000
    box%width = 50
    box%widest = [50, 200]
    box%height = [200, 100]
    box%fastest = [2000, 2000]
    box%fluid = [.false., .false.]
    box%thinnest = 0.7_dp
    box%doubles = .true.
    call MeshLayers(t, box, mesh, words, error)
    call ClaimFine(error, words)
    call Claim(Widest(mesh, box) <= 1 + 1.0e-6_dp, 'rows of rock that reach into soil are not widened: '//Str(Widest(mesh, box), 4))
  end subroutine Pushed

  !> A surface that is nowhere in the middle, where five columns have no node and six one.
  subroutine Holed()
    type(layer_table_t) :: t
    type(layers_box_t) :: box
    type(mesh_t) :: mesh, even
    character(:), allocatable :: words
    call Table(['l1 0                ', 'l2 500+0.01/(x-1000)'], t)
    box%x = [0, 2000]
    box%y = [0, 2000]
    box%bottom = 8000
    box%width = 400
    box%widest = [400, 1600]
    box%height = box%widest
    box%fastest = [1000, 4000]
    box%fluid = [.false., .false.]
    call MeshLayers(t, box, even, words, error)
    box%doubles = .true.
    if (.not. allocated(error)) call MeshLayers(t, box, mesh, words, error)
    call ClaimFine(error, 'other columns for doubled elements would not do: '//words)
    call Claim(Same(mesh, even), 'so that nothing doubles')
  end subroutine Holed

  logical function Same(a, b)
    type(mesh_t), intent(in) :: a, b
    Same = size(a%x) == size(b%x) .and. size(a%node) == size(b%node)
    if (Same) Same = all(abs(a%x - b%x) <= 0) .and. all(a%node == b%node) .and. all(a%block == b%block)
  end function Same

  !> Sides without another one are those of the sets; the volume is that of the mesh without doubling, up to what ground between nodes
  !> makes of it.
  subroutine Whole(mesh, even)
    type(mesh_t), intent(in) :: mesh, even
    integer, allocatable :: face(:, :), sharers(:)
    logical, allocatable :: listed(:)
    integer :: faces, e, s, k
    call MeshFaces(mesh%node, face, faces)
    allocate (sharers(faces), source=0)
    allocate (listed(faces), source=.false.)
    do e = 1, size(face, 2)
      do s = 1, 6
        sharers(face(s, e)) = sharers(face(s, e)) + 1
      end do
    end do
    do s = 1, 2
      do k = 1, size(mesh%sets(s)%element)
        listed(face(mesh%sets(s)%side(k), mesh%sets(s)%element(k))) = .true.
      end do
    end do
    call Claim(all(sharers <= 2) .and. all(listed .eqv. sharers == 1) .and. &
               size(mesh%sets(1)%element) + size(mesh%sets(2)%element) == count(sharers == 1), &
               'faces have two elements, or one and lie in a side set: '//Str(faces)//' faces')
    call Claim(abs(Volume(mesh)/Volume(even) - 1) <= 2.0e-3_dp, 'its volume is off by '//Str(100*abs(Volume(mesh)/Volume(even) - 1), 2)// &
               ' % of that of even rows, at most 0.2 %')
    call Claim(all(abs(maxval(mesh%x, 2) - maxval(even%x, 2)) < 1.0e-6_dp) .and. &
               all(abs(minval(mesh%x(:2, :), 2) - minval(even%x(:2, :), 2)) < 1.0e-6_dp), 'and it is as large')
  end subroutine Whole

  real(dp) function Volume(mesh)
    type(mesh_t), intent(in) :: mesh
    real(dp) :: jacobian(3, 3, in_element)
    integer :: e, a, b, c
    Volume = 0
    do e = 1, size(mesh%block)
      call HexJacobians(mesh%x(:, mesh%node(:, e)), jacobian)
      do c = 0, 4
        do b = 0, 4
          do a = 0, 4
            Volume = Volume + gll_w(a + 1)*gll_w(b + 1)*gll_w(c + 1)*Determinant(jacobian(:, :, 1 + a + 5*b + 25*c))
          end do
        end do
      end do
    end do
  end function Volume

  !> The largest extent of an element along x or y, of what its medium allows, in the box.
  real(dp) function Widest(mesh, box)
    type(mesh_t), intent(in) :: mesh
    type(layers_box_t), intent(in) :: box
    integer :: e, k
    Widest = 0
    do e = 1, size(mesh%block)
      associate (x => mesh%x(1, mesh%node(:, e)), y => mesh%x(2, mesh%node(:, e)), name => mesh%blocks(mesh%block(e))%name)
        if (minval(x) < box%x(1) .or. maxval(x) > box%x(2) .or. minval(y) < box%y(1) .or. maxval(y) > box%y(2)) cycle
        read (name(2:), *) k
        Widest = max(Widest, (maxval(x) - minval(x))/box%widest(k), (maxval(y) - minval(y))/box%widest(k))
      end associate
    end do
  end function Widest

  ! --- by depth -------------------------------------------------------------------------------------------------------------

  !> Rock under 500 m of soil, elements 100 m wide, in rock so high, doubling at these depths; by velocity they may be `wide` there.
  subroutine TwoLayers(height, depths, mesh, words, wide)
    real(dp), intent(in) :: height
    character(*), intent(in) :: depths
    type(mesh_t), intent(out) :: mesh
    character(:), allocatable, intent(out) :: words
    real(dp), intent(in), optional :: wide
    type(layer_table_t) :: t
    type(layers_box_t) :: box
    character(:), allocatable :: why
    call Table(['soil 0  ', 'rock 500'], t)
    box%x = [0, 1600]
    box%y = [0, 1450]                                   ! 15 columns, one more where these double
    box%bottom = 4000
    box%width = [100, 100]
    box%height = [100.0_dp, height]
    box%widest = [100.0_dp, 200.0_dp]
    if (present(wide)) box%widest(2) = wide
    box%fluid = [.false., .false.]
    call DoublingRead(depths, box, why)
    call Claim(why == '', 'depths '//depths//' '//why)
    call MeshLayers(t, box, mesh, words, error)
    if (.not. allocated(error)) call MeshCheck(mesh, error)
  end subroutine TwoLayers

  !> Shapes and time steps where nothing is curved.
  subroutine Shapes()
    type(mesh_t) :: mesh, even
    character(:), allocatable :: words
    real(dp) :: dt(2), worst, bound
    integer :: e, high
    call TwoLayers(200.0_dp, 'none', even, words)
    do high = 2, 3
      call TwoLayers(200.0_dp, '500', mesh, words, 100.0_dp*high)
      call ClaimFine(error, words)
      worst = 1
      do e = 1, size(mesh%block)
        worst = min(worst, ShapeOf(mesh%x(:, mesh%node(:, e))))
      end do
      call Claim(worst >= 0.5_dp, 'rows '//Str(high)//' widths high: the worst shape is '//Str(worst, 3)//' of 1, at least 0.5')
      dt = [Step(even), Step(mesh)]
      bound = merge(0.7_dp, 0.8_dp, high == 2)
      call Claim(dt(2) >= bound*dt(1), 'their time step is '//Str(dt(2)/dt(1), 3)//' of that of even rows, at least '//Str(bound))
    end do
  end subroutine Shapes

  !> Of rock everywhere, so that rows alone set it.
  real(dp) function Step(mesh)
    type(mesh_t), intent(in) :: mesh
    type(elements_t) :: elements
    type(counts_t) :: counts
    integer, allocatable :: numbers(:)
    integer :: e
    call ElementsMake(mesh, spread([3000.0_dp, 1700.0_dp, 2300.0_dp, 0.0_dp, 0.0_dp], 2, size(mesh%blocks)), elements, numbers, counts)
    call ElementsDt(elements, Step, e)
  end function Step

  !> Elements are 100, 200, 400 m wide above, between and below.
  subroutine Depths()
    type(mesh_t) :: mesh
    character(:), allocatable :: words
    real(dp) :: wide, z(2)
    integer :: e
    logical :: right
    call TwoLayers(100.0_dp, '1000,2000', mesh, words)
    call ClaimFine(error, words)
    right = .true.
    do e = 1, size(mesh%block)
      associate (x => mesh%x(:, mesh%node(:, e)))
        wide = maxval(x(1, :)) - minval(x(1, :))
        z = [minval(x(3, :)), maxval(x(3, :))]
        if (z(2) < 1000 + 1) right = right .and. abs(wide - 100) < 1.0e-6_dp
        if (z(1) > 1000 + 400 - 1 .and. z(2) < 2000 + 1) right = right .and. abs(wide - 200) < 1.0e-6_dp
        if (z(1) > 2000 + 800 - 1) right = right .and. abs(wide - 400) < 1.0e-6_dp
      end associate
    end do
    call Claim(right .and. index(words, 'in rock at 1000 m and in rock at 2000 m') > 0, 'they are where they should be')
    call Claim(index(words, '16 x 16 columns') > 0 .and. index(words, 'in place of 9600') > 0, 'words tell columns and what is saved')
  end subroutine Depths

  subroutine Refused()
    type(mesh_t) :: mesh
    type(layers_box_t) :: box
    type(layer_table_t) :: t
    character(:), allocatable :: words
    call TwoLayers(100.0_dp, '5000', mesh, words)
    call ClaimFails(error, 'mesh_doubling = 5000 m: there is no layer', 'a depth below the box')
    call TwoLayers(100.0_dp, '-10', mesh, words)
    call ClaimFails(error, 'mesh_doubling = -10 m: there is no layer', 'a depth above the ground')
    call TwoLayers(100.0_dp, '100,200', mesh, words)
    call ClaimFails(error, 'layer soil is 500 m thick at most, and there doubling layers', 'two doubling layers where there is room for one')
    call Said('deep', 'auto, none, or depths')
    call Said('100,,300', 'auto, none, or depths')
    call Said('300,100', 'rise')
    call Said('1,2,3,4', 'at most 3')
    call Table(['soil 0                          ', 'clay 400                        ', 'rock 2000-1500*exp(-(x/900)^2)  '], t)
    box%x = [0, 1600]
    box%y = [0, 1600]
    box%bottom = 4000
    box%width = 100
    box%height = [100, 100, 200]
    box%widest = box%height
    box%fluid = [.false., .false., .false.]
    box%doubling = [800.0_dp]
    call MeshLayers(t, box, mesh, words, error)
    call ClaimFails(error, 'layer clay is', 'a layer that becomes thin')
  end subroutine Refused

  subroutine Said(words, expected)
    character(*), intent(in) :: words, expected
    type(layers_box_t) :: box
    character(:), allocatable :: why
    call DoublingRead(words, box, why)
    call Claim(index(why, expected) > 0, 'depths '//words//': '//why)
  end subroutine Said

end program t863_sem_doubling
