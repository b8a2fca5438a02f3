!> The own mesher: formulas and grids are read as they are written; meshes follow their surfaces, fill the box, pass the check of
!> meshes, have media where the surfaces say, and grow by a sponge; what cannot be meshed is refused with value, place and advice.
program t806_sem_layers
  use check_m, only: Claim, ClaimFails, ClaimFine, Done
  use error_m, only: error_t
  use formula_m, only: formula_t, FormulaAt, FormulaRead
  use hexahedron_m, only: Determinant, HexAt, HexJacobians, hex_side
  use elements_m, only: in_element
  use kinds_m, only: dp
  use layer_table_m, only: layer_table_t, LayersRead
  use mesh_check_m, only: MeshCheck
  use mesh_exodus_m, only: MeshRead
  use mesh_exodus_write_m, only: MeshWrite
  use mesh_layers_m, only: layers_box_t, MeshLayers
  use mesh_m, only: mesh_t
  use text_m, only: Str
  implicit none
  character(*), parameter :: hill = '-300*exp(-((x-900)^2+(y-700)^2)/600^2)'
  type(error_t), allocatable :: error
  call Formulas()
  call Flat()
  call Hills()
  call Lake()
  call Grids()
  call Refused()
  call Done()

contains

  ! --- formulas -------------------------------------------------------------------------------------------------------------

  subroutine Formulas()
    real(dp), parameter :: x = 1.3_dp, y = -0.7_dp, pi = acos(-1.0_dp)
    call Same('2+3*x-y/4', 2 + 3*x - y/4)
    call Same('-x^2 + y**2', -x**2 + y**2)
    call Same('2^3^2', 512.0_dp)
    call Same('2^-1*(x-(y-1))', 0.5_dp*(x - (y - 1)))
    call Same('1e2*sin(pi*x)*COS(y)+tanh(x)*atan(y)', 100*sin(pi*x)*cos(y) + tanh(x)*atan(y))
    call Same('min(x,y) - max(x, 2*y)*sqrt(abs(y)) + log(exp(x))', min(x, y) - max(x, 2*y)*sqrt(abs(y)) + log(exp(x)))
    call Same('y^3+y^2*1.5E-1', y**3 + y**2*0.15_dp)
    call Wrong('', 'is missing')
    call Wrong('2*(x+1', "')' is missing")
    call Wrong('2 x', "'x' is not understood")
    call Wrong('x+', 'is missing')
    call Wrong('z*2', "'z' is unknown")
    call Wrong('min(x)', 'a comma')
    call Wrong('1.2.3', 'no number')
    call Wrong(repeat('(', 60)//'x'//repeat(')', 60), 'more than 40 brackets')
    call Wrong(repeat('x+', 300)//'x', 'longer than')
    call Nowhere('1/(x-1.3)')
    call Nowhere('sqrt(y)')
    call Nowhere('log(y)')
    call Nowhere('exp(1000*x)')
    call Nowhere('y^0.5')
    call Nowhere('0^-1')
    call Nowhere('1e99^9')

  end subroutine Formulas

  subroutine Same(text, value)
    character(*), intent(in) :: text
    real(dp), intent(in) :: value
    type(formula_t) :: f
    character(:), allocatable :: why
    real(dp) :: found
    logical :: ok
    call FormulaRead(text, f, why)
    call FormulaAt(f, 1.3_dp, -0.7_dp, found, ok)
    call Claim(why == '' .and. ok .and. abs(found - value) <= 1e-12_dp*abs(value), text//' is '//Str(found, 12)//' '//why)
  end subroutine Same

  subroutine Wrong(text, why)
    character(*), intent(in) :: text, why
    type(formula_t) :: f
    character(:), allocatable :: said
    call FormulaRead(text, f, said)
    call Claim(index(said, why) > 0, "'"//text(:min(20, len(text)))//"' is refused: "//said)
  end subroutine Wrong

  subroutine Nowhere(text)
    character(*), intent(in) :: text
    type(formula_t) :: f
    character(:), allocatable :: why
    real(dp) :: found
    logical :: ok
    call FormulaRead(text, f, why)
    call FormulaAt(f, 1.3_dp, -0.7_dp, found, ok)
    call Claim(why == '' .and. .not. ok, text//' has no value at x = 1.3, y = -0.7')
  end subroutine Nowhere

  ! --- meshes ---------------------------------------------------------------------------------------------------------------

  !> A table of these lines, parted by ';'.
  subroutine Table(lines, t)
    character(*), intent(in) :: lines
    type(layer_table_t), intent(out) :: t
    integer :: unit, i
    open (newunit=unit, file='t.layers', action='write')
    write (unit, '(a)') '# a table'
    i = index(lines, ';')
    write (unit, '(a)') lines(:merge(len(lines), i - 1, i == 0))
    do while (i > 0)
      associate (rest => lines(i + 1:))
        write (unit, '(a)') rest(:merge(len(rest), index(rest, ';') - 1, index(rest, ';') == 0))
        i = merge(0, i + index(rest, ';'), index(rest, ';') == 0)
      end associate
    end do
    close (unit)
    call LayersRead('t.layers', t, error)
  end subroutine Table

  !> 2 km x 1.5 km, 1 km deep; elements at most 200 x 150 m, so high, the first `fluids` layers fluid.
  subroutine Make(lines, height, fluids, mesh, words, sponge, per, thinnest)
    character(*), intent(in) :: lines
    real(dp), intent(in) :: height
    integer, intent(in) :: fluids
    type(mesh_t), intent(out) :: mesh
    character(:), allocatable, intent(out) :: words
    real(dp), intent(in), optional :: sponge, thinnest
    integer, intent(in), optional :: per
    type(layer_table_t) :: t
    type(layers_box_t) :: box
    integer :: i
    words = ''
    call Table(lines, t)
    if (allocated(error)) return
    box%x = [0, 2000]
    box%y = [-100, 1400]
    box%bottom = 1000
    box%width = [200, 150]
    box%height = [(height, i=1, size(t%layer))]
    where (t%layer%height > 0) box%height = t%layer%height
    box%fluid = [(i <= fluids, i=1, size(t%layer))]
    if (present(sponge)) box%sponge = sponge
    if (present(per)) box%per = per
    if (present(thinnest)) box%thinnest = thinnest
    call MeshLayers(t, box, mesh, words, error)
    if (.not. allocated(error)) call MeshCheck(mesh, error)
  end subroutine Make

  subroutine Flat()
    type(mesh_t) :: mesh
    character(:), allocatable :: words
    integer :: e, i
    logical :: right
    call Make('soil 10;clay 110 40;rock 310', 250.0_dp, 0, mesh, words)
    call ClaimFine(error, 'flat layers: '//words)
    call Claim(size(mesh%block) == 10*10*(1 + 5 + 3) .and. size(mesh%x, 2) == 11*11*10, '10 x 10 x 9 elements: '//Str(size(mesh%block)))
    right = .true.
    do e = 1, size(mesh%block)
      associate (z => sum(mesh%x(3, mesh%node(:, e)))/8, b => mesh%blocks(mesh%block(e))%name)
        right = right .and. (b == 'soil' .eqv. z < 110) .and. (b == 'rock' .eqv. z > 310)
      end associate
    end do
    call Claim(right .and. all(mesh%number == [(i, i=1, size(mesh%number))]) .and. all(mesh%block(2:) >= mesh%block(:899)), &
               'blocks are the layers, and elements stand in their order')
    call Claim(mesh%sets(1)%name == 'free' .and. size(mesh%sets(1)%element) == 100 .and. all(abs(Depths(mesh, 1) - 10) < 1e-9_dp), &
               'the free sides are those at the upper side of the first layer')
    call Claim(size(mesh%sets(2)%element) == 2*9*20 + 100, 'all other outer sides absorb: '//Str(size(mesh%sets(2)%element)))
    call Claim(abs(Volume(mesh) - 2000.0_dp*1500*990) <= 1e-6_dp*2000*1500*990, 'the mesh has the volume of the box')
    call Make('soil 10;clay 110 40;rock 310', 250.0_dp, 0, mesh, words, sponge=400.0_dp)
    call ClaimFine(error, 'with a sponge of 400 m: '//words)
    call Claim(all(abs(minval(mesh%x, 2) - [-400, -500, 10]) < 1e-9_dp) .and. all(abs(maxval(mesh%x, 2) - [2400, 1800, 1400]) < 1e-9_dp) &
               .and. size(mesh%block) == 14*16*(9 + 2), 'the box grows by it at its sides and bottom, by elements of the same size')
  end subroutine Flat

  subroutine Hills()
    type(mesh_t) :: mesh, again
    character(:), allocatable :: words
    real(dp) :: off(2), x(3)
    integer :: per, n
    do per = 8, 27, 19
      call Make('soil '//hill//';rock 500+100*sin(x/400)', 100.0_dp, 0, mesh, words, per=per)
      call ClaimFine(error, 'a hill over rock, elements of '//Str(per)//' nodes: '//words)
      off = 0
      do n = 1, size(mesh%sets(1)%element)
        associate (e => mesh%sets(1)%element(n))
          off(1) = max(off(1), maxval(abs(mesh%x(3, mesh%node(:4, e)) - HillAt(mesh%x(1, mesh%node(:4, e)), mesh%x(2, mesh%node(:4, e))))))
          x = HexAt(mesh%x(:, mesh%node(:, e)), [0.3_dp, 0.4_dp, -1.0_dp])
          off(2) = max(off(2), abs(x(3) - HillAt(x(1), x(2))))
        end associate
      end do
      call Claim(off(1) < 1e-9_dp .and. off(2) < merge(20.0_dp, 2.0_dp, per == 8), 'its nodes are on the hill, and between them it '// &
                 'is off by '//Str(off(2), 3)//' m < '//Str(merge(20, 2, per == 8))//' m')
      call Claim(index(words, 'another layer') == 0, 'all elements have the medium of their row')
    end do
    call Make('soil '//hill//';rock 500+100*sin(x/400)', 100.0_dp, 0, again, words, per=27)
    call Claim(all(abs(again%x - mesh%x) <= 0) .and. all(again%node == mesh%node), 'the same again, bit for bit')
    call MeshWrite('hill.exo', mesh, .true., error)
    call MeshRead('hill.exo', again, error, up=.true.)
    call ClaimFine(error, 'written and read')
    call Claim(all(abs(again%x - mesh%x) <= 0) .and. all(again%node == mesh%node) .and. all(again%block == mesh%block), &
               'it is the same mesh')
  end subroutine Hills

  elemental real(dp) function HillAt(x, y)
    real(dp), intent(in) :: x, y
    HillAt = -300*exp(-((x - 900)**2 + (y - 700)**2)/600.0_dp**2)
  end function HillAt

  !> A lake ends at its shore, a layer of rock where it pinches out, and a surface cuts those below it.
  subroutine Lake()
    type(mesh_t) :: mesh
    character(:), allocatable :: words
    real(dp), allocatable :: z(:, :)
    real(dp) :: volume, exact, x(3)
    integer :: e, wrong
    call Make('lake 0;rock 150-0.2*abs(x-1000)', 60.0_dp, 1, mesh, words)
    call ClaimFine(error, 'a lake between shores: '//words)
    exact = 150*750.0_dp*1500                           ! a wedge 2 x 750 m long, 150 m deep
    volume = BlockVolume(mesh, 'lake')
    call Claim(abs(volume - exact) <= 0.1_dp*exact, 'it has its volume: '//Str(100*(volume/exact - 1), 3)//' % off, at most 10 %')
    allocate (z, source=Depths(mesh, 1))
    call Claim(abs(minval(z) + 50) < 1e-9_dp .and. abs(maxval(z)) < 1e-9_dp .and. count(abs(z) < 1e-9_dp) > 50, &
               'the ground is level on the lake and rises beside it')
    call Make('soil 0;clay 100+0.3*(x-1000);rock 200', 100.0_dp, 0, mesh, words)
    call ClaimFine(error, 'clay that pinches out beside soil that does, over rock: '//words)
    wrong = 0
    do e = 1, size(mesh%block)
      x = sum(mesh%x(:, mesh%node(:, e)), 2)/8
      associate (top => max(0.0_dp, 100 + 0.3_dp*(x(1) - 1000)))
        if (mesh%blocks(mesh%block(e))%name /= merge('soil', merge('clay', 'rock', x(3) < max(top, 200.0_dp)), x(3) < top)) &
          wrong = wrong + 1
      end associate
    end do
    call Claim(wrong == 0 .and. index(words, 'another layer') > 0, 'each element has the medium that is in its middle')
    call Make('soil 0;rock 30+0.16*x', 100.0_dp, 0, mesh, words)   ! 4 rows of 35 m at least; columns of 200 m: 126 m by one of 140
    call ClaimFine(error, 'a wedge: '//words)
    call Claim(index(words, 'contacts lie up to 14 m from') > 0, 'it is told how far contacts are misplaced')
    call Make('soil 0;rock 30+0.16*x', 100.0_dp, 0, mesh, words, thinnest=0.08_dp)
    call Claim(index(words, 'contacts') == 0, 'with thinner rows they are not')
    call Claim(index(words, 'between nodes') == 0, 'nor are planes between nodes')
    call Make('soil 20*sin(x/10);rock 500', 100.0_dp, 0, mesh, words)
    call Claim(index(words, 'between nodes the upper side of soil lies up to 3') > 0, 'topography finer than elements is told of: '//words)
    call Make('soil 0;rock 500+50*cos(x/200)', 100.0_dp, 0, mesh, words)
    call Claim(index(words, 'between nodes the upper side of rock lies up to 6') > 0, 'the sag of a straight side too: '//words)
    call Make('soil 0;rock 500+50*cos(x/200)', 100.0_dp, 0, mesh, words, per=27)
    call Claim(index(words, 'between nodes') == 0, 'not of a curved one, which follows it')
  end subroutine Lake

  subroutine Grids()
    type(mesh_t) :: one, two
    character(:), allocatable :: words
    real(dp) :: at(2)
    integer, parameter :: mixed(0:5) = [1, 3, 5, 0, 2, 4]    ! no two that follow each other are neighbours
    integer :: unit, i, j
    open (newunit=unit, file='plane.xyz', action='write')
    do i = 5, 0, -1                                     ! x slowest, backwards
      do j = 0, 4
        at = [-100 + i*450.0_dp, -200 + j*400.0_dp]
        write (unit, '(3(1x,f0.3))') at, 120 + 0.1_dp*at(1) - 0.05_dp*at(2)
      end do
    end do
    close (unit)
    call Make('soil 0;rock plane.xyz', 100.0_dp, 0, one, words)
    call ClaimFine(error, 'a plane from a text grid: '//words)
    call Make('soil 0;rock 120+0.1*x-0.05*y', 100.0_dp, 0, two, words)
    call Claim(maxval(abs(one%x - two%x)) < 1e-3_dp, 'it is the plane: '//Str(maxval(abs(one%x - two%x)), 2)//' m off < 1 mm')
    open (newunit=unit, file='mixed.xyz', action='write')
    do i = 0, 5
      do j = 0, 4
        at = [-100 + mixed(i)*450.0_dp, -200 + j*400.0_dp]
        write (unit, '(3(1x,f0.3))') at, 120 + 0.1_dp*at(1) - 0.05_dp*at(2)
      end do
    end do
    close (unit)
    call Make('soil 0;rock mixed.xyz', 100.0_dp, 0, one, words)
    call ClaimFine(error, 'a text grid whose columns come in any order')
    call Claim(maxval(abs(one%x - two%x)) < 1e-3_dp, 'it is the plane too')
    call Make('soil 0;rock up:-120-0.1*x+0.05*y', 100.0_dp, 0, one, words)
    call Claim(maxval(abs(one%x - two%x)) < 1e-9_dp, 'heights with up: are depths turned')
    call Make('soil 0;rock plane.xyz', 100.0_dp, 0, one, words, sponge=3000.0_dp)
    call ClaimFine(error, 'in a sponge, beyond the grid, surfaces go on')
    open (newunit=unit, file='hole.xyz', action='write')
    write (unit, '(a)') '0 0 1', '100 0 1', '200 0 1', '0 100 1', '100 100 1'
    close (unit)
    call Make('soil 0;rock hole.xyz', 100.0_dp, 0, one, words)
    call ClaimFails(error, 'grid hole.xyz has 5 points', 'a grid with a hole')
    open (newunit=unit, file='small.xyz', action='write')
    write (unit, '(a)') '0 0 1', '100 0 1', '0 100 1', '100 100 1'
    close (unit)
    call Make('soil 0;rock small.xyz', 100.0_dp, 0, one, words)
    call ClaimFails(error, 'at x = 0, y = -100 m the upper side of layer rock, small.xyz, ends at x = 0 .. 100, y = 0 .. 100 m', &
                    'a grid smaller than the box')
    open (newunit=unit, file='words.xyz', action='write')
    write (unit, '(a)') '0 0 1', 'here be dragons'
    close (unit)
    call Make('soil 0;rock words.xyz', 100.0_dp, 0, one, words)
    call ClaimFails(error, 'grid words.xyz, line 2', 'a grid of words')
  end subroutine Grids

  subroutine Refused()
    type(mesh_t) :: mesh
    character(:), allocatable :: words
    call Bad('soil 0;rock 10/(x-1000)', 100.0_dp, 'at x = 1000, y = -100 m the upper side of layer rock, 10/(x-1000), has no value')
    call Bad('soil 0;rock basement.nc', 100.0_dp, "line 3: surface 'basement.nc' is no depth, no file that is there, and no formula")
    call Bad('soil 0;soil 100', 100.0_dp, 'layer soil stands there twice')
    call Bad('# none', 100.0_dp, 'holds no layer: give a line a layer, name and upper side')
    call Bad('soil', 100.0_dp, 'layer soil has no upper side')
    call Bad('0 4000 2000 2600;1000 6000 3464 2700', 100.0_dp, 'begins with a number')
    call Bad('soil 0 -5', 100.0_dp, "'-5' is no height of elements")
    call Bad('soil 0 100 200', 100.0_dp, 'has more than a name')
    call Bad('soil 0;rock 2000', 100.0_dp, 'layer rock is nowhere in the box')
    call Bad('soil 0;clay 300;rock 200', 100.0_dp, 'm: layer rock begins nowhere deeper than it')
    call Bad('soil 990-0.495*x', 20.0_dp, 'from the ground to the bottom')
    call Bad('soil 0', 1e-3_dp, 'are possible: use larger elements')
    call Make('soil 0;clay 999.99999;rock 1000-1e-7*x', 100.0_dp, 0, mesh, words)
    call ClaimFails(error, 'layer clay is nowhere', 'a layer thinner than anything')
  end subroutine Refused

  subroutine Bad(lines, height, why)
    character(*), intent(in) :: lines, why
    real(dp), intent(in) :: height
    type(mesh_t) :: mesh
    character(:), allocatable :: words
    call Make(lines, height, 0, mesh, words)
    call ClaimFails(error, why, lines)
  end subroutine Bad

  ! --- what meshes are ------------------------------------------------------------------------------------------------------

  !> Depths of the corners of the sides of a set.
  pure function Depths(mesh, set) result(z)
    type(mesh_t), intent(in) :: mesh
    integer, intent(in) :: set
    real(dp) :: z(4, size(mesh%sets(set)%element))
    integer :: i
    do i = 1, size(z, 2)
      z(:, i) = mesh%x(3, mesh%node(hex_side(:, mesh%sets(set)%side(i)), mesh%sets(set)%element(i)))
    end do
  end function Depths

  real(dp) function Volume(mesh)
    type(mesh_t), intent(in) :: mesh
    integer :: b
    Volume = 0
    do b = 1, size(mesh%blocks)
      Volume = Volume + BlockVolume(mesh, mesh%blocks(b)%name)
    end do
  end function Volume

  real(dp) function BlockVolume(mesh, name) result(volume)
    type(mesh_t), intent(in) :: mesh
    character(*), intent(in) :: name
    real(dp) :: jacobian(3, 3, in_element)
    integer :: e
    volume = 0
    do e = 1, size(mesh%block)
      if (mesh%blocks(mesh%block(e))%name /= name) cycle
      call HexJacobians(mesh%x(:, mesh%node(:, e)), jacobian)
      volume = volume + 8*Determinant(jacobian(:, :, 63))         ! in the middle
    end do
  end function BlockVolume

end program t806_sem_layers
