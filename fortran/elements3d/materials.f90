!> The media of the blocks of a mesh, from a table.
!>
!> A text, a line a block: its name or number, vp, vs [m/s], rho [kg/m3] and, where it attenuates, Qp, Qs. vs = 0: a fluid. `*` is
!> every block that has no line of its own. Another order, or Qkappa and Qmu in place of Qp and Qs, is told by a first line with the
!> names of the columns, which begins with `block`. In place of numbers `volume` says that the medium comes from the volumes of the
!> job, by point; `volume solid` and `volume fluid` that all elements of the block are that. Anisotropic blocks:
!> anisotropy_lines.f90.
module materials_m
  use anisotropy_lines_m, only: AnisoKind, AnisoLine, AnisoNumbers
  use anisotropy_m, only: aniso_constants, AnisoIsotropic, AnisoMatrix, AnisoSpeeds
  use elements_tensors_m, only: TensorRelative
  use error_m, only: error_t, Fail
  use heeded_quality_m, only: QsHeeded
  use kinds_m, only: dp
  use mesh_m, only: mesh_block_t, mesh_t
  use text_m, only: Lower, NearestName, Str
  use textfile_m, only: NumberOf, TextAdvise, TextLine, TextOpen, TextWord, textfile_t, TitleAdvice
  implicit none
  private
  public :: materials_t, MaterialsRead, MaterialsOf, MaterialsUnused, Losses

  !> Sources of the medium of a block.
  integer, parameter, public :: from_table = 0, from_volume = 1, from_solid = 2, from_fluid = 3

  integer, parameter, public :: material_vp = 1, material_vs = 2, material_rho = 3, material_bulk = 4, material_shear = 5
  integer, parameter, public :: material_slowest = 6, material_fastest = 7
  !> vp, vs [m/s] (of an anisotropic medium of its isotropic average), rho [kg/m3], 1/Qkappa, 1/Qmu, and the velocities of the
  !> slowest and the fastest wave.
  integer, parameter, public :: material_parts = 7

  type :: materials_t
    character(:), allocatable :: path
    character(64), allocatable :: block(:)        !< name or number, or '*'
    real(dp), allocatable :: part(:, :)           !< (material_parts, blocks)
    real(dp), allocatable :: relative(:, :)       !< of anisotropic ones, as of elements_t, else 0; (aniso_constants, blocks)
    integer, allocatable :: from(:)
    character(:), allocatable :: lossy_fluids     !< of blocks that have vs = 0 and a Q that would matter; none of it is heeded
  end type materials_t

  real(dp), parameter :: lossless = 1000          !< Q from which on a wave loses less than 0.3 % a wavelength

  character(6), parameter :: known(7) = [character(6) :: 'vp', 'vs', 'rho', 'qp', 'qs', 'qkappa', 'qmu']

contains

  !> Fails on what is no table of materials, and on values that are of no rock or fluid. z_up: z of the mesh points up, and so that
  !> of anisotropic media.
  subroutine MaterialsRead(path, materials, error, z_up)
    character(*), intent(in) :: path
    type(materials_t), intent(out) :: materials
    type(error_t), allocatable, intent(inout) :: error
    logical, intent(in) :: z_up
    type(textfile_t) :: file
    integer, allocatable :: column(:)
    integer :: first, last
    call TextOpen(file, path, 'table of materials', error)
    if (allocated(error)) return
    materials%path = path
    materials%lossy_fluids = ''
    allocate (materials%block(0), materials%part(material_parts, 0), materials%from(0), column(0))
    allocate (materials%relative(aniso_constants, 0))
    do while (TextLine(file))
      if (.not. TextWord(file, first, last)) cycle
      if (size(materials%block) == 0 .and. size(column) == 0 .and. Lower(file%text(first:last)) == 'block') then
        call ReadColumns(file, column, error)
      else
        call ReadBlock(file, file%text(first:last), column, z_up, materials, error)
      end if
      call TextAdvise(file, error)
      if (allocated(error)) return
    end do
    if (size(materials%block) == 0) &
      call Fail(error, 'table of materials '//path//' holds no block: give a line a block, name, vp, vs, rho')
  end subroutine MaterialsRead

  !> The order of the columns after that of the blocks.
  subroutine ReadColumns(file, column, error)
    type(textfile_t), intent(inout) :: file
    integer, allocatable, intent(inout) :: column(:)
    type(error_t), allocatable, intent(inout) :: error
    integer :: first, last, c
    do while (TextWord(file, first, last))
      c = findloc(known, Lower(file%text(first:last)), 1)
      if (c == 0 .or. any(column == c)) then
        call Fail(error, Here(file)//"column '"//file%text(first:last)//"' is unknown or stands there twice: give each of vp, "// &
                  'vs, rho once, and Qp and Qs or Qkappa and Qmu where blocks attenuate')
        return
      end if
      column = [column, c]
    end do
    if (.not. all([(any(column == c), c=1, 3)]) .or. (any(column == 4) .neqv. any(column == 5)) .or. &
        (any(column == 6) .neqv. any(column == 7)) .or. (any(column == 4) .and. any(column == 6))) &
      call Fail(error, Here(file)//'columns must be vp, vs, rho and, where blocks attenuate, Qp and Qs or Qkappa and Qmu')
  end subroutine ReadColumns

  subroutine ReadBlock(file, block, column, z_up, materials, error)
    type(textfile_t), intent(inout) :: file
    character(*), intent(in) :: block
    integer, intent(inout), allocatable :: column(:)
    logical, intent(in) :: z_up
    type(materials_t), intent(inout) :: materials
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: value(size(known)), x, relative(aniso_constants)
    integer :: first, last, n, from, kind
    logical :: ok
    if (size(column) == 0) column = [1, 2, 3, 4, 5]
    value = 0
    relative = 0
    n = 0
    from = from_table
    kind = 0
    do while (TextWord(file, first, last))
      if (n == 0 .and. Lower(file%text(first:last)) == 'volume') then
        call ReadOrigin(file, from, error)
        exit
      end if
      if (n == 0) kind = AnisoKind(file%text(first:last))
      if (kind > 0) then
        call ReadAnisotropic(file, block, kind, column, z_up, value, relative, n, error)
        exit
      end if
      n = n + 1
      call NumberOf(file%text(first:last), x, ok)
      if (.not. ok) then
        call Fail(error, Here(file)//"'"//file%text(first:last)//"' is no number: a line holds a block, vp, vs [m/s], rho "// &
                  '[kg/m3] and, where it attenuates, Qp, Qs'//TitleAdvice(file%text(first:last)))
        return
      else if (n > size(column)) then
        exit
      end if
      value(column(n)) = x
    end do
    if (allocated(error)) return
    if (from == from_table .and. .not. QsHeeded(value(1), value(2))) value([5, 7]) = 0
    if (len(block) > len(materials%block)) then
      call Fail(error, Here(file)//'the name of a block has '//Str(len(block))//' characters, at most '// &
                Str(len(materials%block))//' are possible')
    else if (any(materials%block == block)) then
      call Fail(error, Here(file)//'block '//block//' stands there twice')
    else if (from /= from_table) then
      continue
    else if (n /= size(column) .and. .not. (n == 3 .and. all(column(:3) <= 3))) then
      call Fail(error, Here(file)//Str(n)//' numbers after the block, must be 3 (vp, vs, rho) or 5 (and Qp, Qs)')
    else
      call CheckValues(file, value, n > 3, error)
    end if
    if (.not. allocated(error)) call Append(materials, block, from, value, n > 3, relative)
  end subroutine ReadBlock

  !> The numbers of an anisotropic block: those of its isotropic average, and what it differs from that. n: 3, or 5 where it
  !> attenuates.
  subroutine ReadAnisotropic(file, block, kind, column, z_up, value, relative, n, error)
    type(textfile_t), intent(inout) :: file
    character(*), intent(in) :: block
    integer, intent(in) :: kind, column(:)
    logical, intent(in) :: z_up
    real(dp), intent(inout) :: value(:)
    real(dp), intent(out) :: relative(aniso_constants)
    integer, intent(out) :: n
    type(error_t), allocatable, intent(inout) :: error
    real(dp), allocatable :: x(:)
    real(dp) :: c(6, 6), lambda, mu, rho, one
    integer :: first, last
    logical :: ok
    relative = 0
    n = 3
    allocate (x(0))
    do while (TextWord(file, first, last))
      call NumberOf(file%text(first:last), one, ok)
      if (.not. ok) call Fail(error, Here(file)//"'"//file%text(first:last)//"' is no number")
      if (allocated(error)) return
      x = [x, one]
    end do
    associate (wanted => AnisoNumbers(kind))
      if (size(x) /= wanted .and. size(x) /= wanted + 2) then
        call Fail(error, Here(file)//Str(size(x))//' numbers of anisotropic block '//block//', must be '//Str(wanted)//' or '// &
                  Str(wanted + 2)//' (and two quality factors): cij rho c11 c12 .. c66, vti vp vs rho epsilon delta gamma, or '// &
                  'tti .. gamma tilt azimuth')
        return
      end if
      call AnisoLine(kind, x(:wanted), z_up, Here(file)//'block '//block//': ', rho, c, error)
      if (allocated(error)) return
      call TensorRelative(c, lambda, mu, relative)
      value(:3) = [sqrt((lambda + 2*mu)/rho), sqrt(mu/rho), rho]
      if (size(x) == wanted) return
      n = 5
      if (any(column == 6)) value(6:7) = x(wanted + 1:)
      if (.not. any(column == 6)) value(4:5) = x(wanted + 1:)
    end associate
  end subroutine ReadAnisotropic

  !> One more block.
  subroutine Append(materials, block, from, value, attenuates, relative)
    type(materials_t), intent(inout) :: materials
    character(*), intent(in) :: block
    integer, intent(in) :: from
    real(dp), intent(in) :: value(:), relative(aniso_constants)
    logical, intent(in) :: attenuates
    real(dp), allocatable :: part(:, :)
    real(dp) :: speeds(2)
    integer :: n
    n = size(materials%block)
    speeds = [merge(value(2), value(1), value(2) > 0), value(1)]
    if (any(abs(relative) > 0)) speeds = AnisoSpeeds(Stiffness(), value(3))
    allocate (part(material_parts, n + 1))
    part(:, :n) = materials%part
    part(:3, n + 1) = value(:3)
    part(4:5, n + 1) = BlockLosses(value, attenuates)
    part(6:, n + 1) = speeds
    materials%from = [materials%from, from]
    call move_alloc(part, materials%part)
    materials%relative = reshape([materials%relative, relative], [aniso_constants, n + 1])
    materials%block = [character(64) :: materials%block, block]
    if (.not. attenuates .or. value(2) > 0 .or. .not. any(value([4, 6]) > 0 .and. value([4, 6]) < lossless)) return
    if (materials%lossy_fluids /= '') materials%lossy_fluids = materials%lossy_fluids//', '
    materials%lossy_fluids = materials%lossy_fluids//trim(block)

  contains

    pure function Stiffness() result(c)
      real(dp) :: c(6, 6)
      associate (mu => value(3)*value(2)**2)
        c = AnisoIsotropic(value(3)*value(1)**2 - 2*mu, mu) + mu*AnisoMatrix(relative)
      end associate
    end function Stiffness
  end subroutine Append

  !> The phase that may follow the word `volume`.
  subroutine ReadOrigin(file, from, error)
    type(textfile_t), intent(inout) :: file
    integer, intent(out) :: from
    type(error_t), allocatable, intent(inout) :: error
    integer :: first, last, i, j
    logical :: more
    from = from_volume
    if (.not. TextWord(file, first, last)) return
    if (Lower(file%text(first:last)) == 'solid') from = from_solid
    if (Lower(file%text(first:last)) == 'fluid') from = from_fluid
    more = TextWord(file, i, j)
    if (from == from_volume .or. more) &
      call Fail(error, Here(file)//"'"//file%text(first:last)//"' after 'volume': must be solid, fluid or nothing")
  end subroutine ReadOrigin

  subroutine CheckValues(file, value, attenuates, error)
    type(textfile_t), intent(in) :: file
    real(dp), intent(in) :: value(:)
    logical, intent(in) :: attenuates
    type(error_t), allocatable, intent(inout) :: error
    real(dp), parameter :: loss_slack = 0.95_dp   !< what differs by less may be rounding: Q is right to 4 %
    real(dp), parameter :: lightest = 10, rock_or_water = 1000   !< [kg/m3, m/s]: nothing lighter has waves so fast
    real(dp) :: least
    associate (vp => value(1), vs => value(2), rho => value(3))
      if (.not. (vp >= 50 .and. vp <= 15000 .and. rho >= 1 .and. rho <= 30000)) then
        call Fail(error, Here(file)//'vp = '//Str(vp)//' m/s, rho = '//Str(rho)//' kg/m3, must be 50 .. 15000 and 1 .. 30000'// &
                  trim(merge(' (km/s? give m/s)', '                 ', vp > 0.05_dp .and. vp < 15)))
      else if (rho < lightest .and. vp > rock_or_water) then
        call Fail(error, Here(file)//'rho = '//Str(rho)//' kg/m3 with vp = '//Str(vp)//' m/s is that of no rock or fluid '// &
                  '(g/cm3? give kg/m3)')
      else if (.not. (vs >= 0 .and. vs <= sqrt(0.75_dp)*vp*(1 + 1e-12_dp))) then
        call Fail(error, Here(file)//'vs = '//Str(vs)//' m/s, must be 0 (a fluid) or more, and less than 0.866 vp = '// &
                  Str(sqrt(0.75_dp)*vp, 6)//' m/s')
      else if (attenuates .and. any(value(4:) > 0 .and. value(4:) < 1 .or. value(4:) < 0)) then
        call Fail(error, Here(file)//'quality factors '//Quality()//', must be 1 or more, or 0: none')
      else if (attenuates .and. vs > 0 .and. (any(value(4:5) > 0) .and. .not. all(value(4:5) > 0))) then
        call Fail(error, Here(file)//'Qp and Qs must both be given')
      else if (attenuates .and. vs > 0 .and. value(4) > 0) then
        least = LeastLoss(vp, vs, 1/value(5))
        if (loss_slack*least > 1/value(4)) call Fail(error, Here(file)//'Qp = '//Str(value(4))//' is too large beside Qs = '// &
          Str(value(5))//': waves that only compress would gain energy; for these vp and vs it is at most '//Str(1/least, 4)// &
          ', which is Qs*3/4*(vp/vs)**2')
      end if
    end associate

  contains

    !> Those that the table has.
    pure function Quality() result(words)
      character(:), allocatable :: words
      words = 'Qp = '//Str(value(4))//', Qs = '//Str(value(5))
      if (any(abs(value(6:)) > 0)) words = 'Qkappa = '//Str(value(6))//', Qmu = '//Str(value(7))
    end function Quality
  end subroutine CheckValues

  !> 1/Qkappa and 1/Qmu of a line of the table; fluids do not attenuate.
  pure function BlockLosses(value, attenuates) result(loss)
    real(dp), intent(in) :: value(:)
    logical, intent(in) :: attenuates
    real(dp) :: loss(2)
    loss = 0
    if (.not. (attenuates .and. value(2) > 0)) return
    if (value(6) > 0) loss(1) = 1/value(6)
    if (value(7) > 0) loss(2) = 1/value(7)
    if (value(4) > 0) loss = Losses(value(1), value(2), 1/value(4), 1/value(5))
    loss(1) = max(0.0_dp, loss(1))
  end function BlockLosses

  !> 1/Qkappa and 1/Qmu by 1/Qp and 1/Qs: 1/Qp = (1 - L)/Qkappa + L/Qmu, L = 4/3 (vs/vp)**2 (Aki & Richards 2002, eq. 5.94 ff.).
  !> 1/Qkappa is below 0 where 1/Qp is less than that of mu alone.
  pure function Losses(vp, vs, p, s) result(loss)
    real(dp), intent(in) :: vp, vs, p, s
    real(dp) :: loss(2), part
    part = 4*(vs/vp)**2/3
    loss = 0
    loss(2) = s
    if (part < 1) loss(1) = (p - LeastLoss(vp, vs, s))/(1 - part)
  end function Losses

  !> 1/Qp of a medium whose bulk modulus does not attenuate.
  pure real(dp) function LeastLoss(vp, vs, s)
    real(dp), intent(in) :: vp, vs, s
    LeastLoss = 4*(vs/vp)**2/3*s
  end function LeastLoss

  !> Names of blocks in the table that the mesh has not, joined by commas, each with a block it may have been meant for.
  function MaterialsUnused(materials, mesh) result(names)
    type(materials_t), intent(in) :: materials
    type(mesh_t), intent(in) :: mesh
    character(:), allocatable :: names, near
    character(64), allocatable :: without(:)
    integer :: row, b
    names = ''
    without = [character(64) ::]
    do b = 1, size(mesh%blocks)
      if (RowOf(materials, mesh%blocks(b)) == 0) without = [character(64) :: without, BlockName(mesh%blocks(b))]
    end do
    do row = 1, size(materials%block)
      if (RowIsUsed(materials, row, mesh)) cycle
      if (names /= '') names = names//', '
      names = names//trim(materials%block(row))
      near = NearestName(materials%block(row), without)
      if (near /= '') names = names//' (did you mean '//near//'?)'
    end do
  end function MaterialsUnused

  pure logical function RowIsUsed(materials, row, mesh) result(used)
    type(materials_t), intent(in) :: materials
    integer, intent(in) :: row
    type(mesh_t), intent(in) :: mesh
    integer :: b
    used = materials%block(row) == '*'
    do b = 1, size(mesh%blocks)
      used = used .or. any(materials%block(row) == [BlockName(mesh%blocks(b)), NumberName(mesh%blocks(b))])
    end do
  end function RowIsUsed

  !> The row of a block's own name or number, 0: it has none.
  pure integer function RowOf(materials, block) result(row)
    type(materials_t), intent(in) :: materials
    type(mesh_block_t), intent(in) :: block
    row = findloc(materials%block, BlockName(block), 1)
    if (row == 0) row = findloc(materials%block, NumberName(block), 1)
  end function RowOf

  !> The media of the blocks of a mesh, (material_parts, blocks), and where they come from. Fails on a block without one. relative:
  !> of anisotropic ones, (aniso_constants, blocks), else 0.
  subroutine MaterialsOf(materials, mesh, part, from, error, relative)
    type(materials_t), intent(in) :: materials
    type(mesh_t), intent(in) :: mesh
    real(dp), allocatable, intent(out) :: part(:, :)
    integer, allocatable, intent(out) :: from(:)
    type(error_t), allocatable, intent(inout) :: error
    real(dp), allocatable, intent(out), optional :: relative(:, :)
    character(:), allocatable :: near
    integer :: b, row
    allocate (part(material_parts, size(mesh%blocks)), source=0.0_dp)
    if (present(relative)) allocate (relative(aniso_constants, size(mesh%blocks)), source=0.0_dp)
    allocate (from(size(mesh%blocks)), source=from_table)
    do b = 1, size(mesh%blocks)
      row = RowOf(materials, mesh%blocks(b))
      if (row == 0) row = findloc(materials%block, '*', 1)
      if (row == 0) then
        near = NearestName(BlockName(mesh%blocks(b)), pack(materials%block, [(.not. RowIsUsed(materials, row, mesh), &
                                                                              row=1, size(materials%block))]))
        if (near /= '') near = ' (its line '//near//' names no block: did you mean this one?)'
        call Fail(error, 'block '//trim(BlockName(mesh%blocks(b)))//' (number '//Str(mesh%blocks(b)%id)//') of mesh '//mesh%path// &
                  ' has no line in the table of materials '//materials%path//near//': add one, or one of * for all others')
        return
      end if
      part(:, b) = materials%part(:, row)
      if (present(relative)) relative(:, b) = materials%relative(:, row)
      from(b) = materials%from(row)
    end do
  end subroutine MaterialsOf

  pure function BlockName(block) result(name)
    type(mesh_block_t), intent(in) :: block
    character(64) :: name
    name = block%name
    if (name == '') name = NumberName(block)
  end function BlockName

  pure function NumberName(block) result(name)
    type(mesh_block_t), intent(in) :: block
    character(64) :: name
    name = Str(block%id)
  end function NumberName

  function Here(file) result(s)
    type(textfile_t), intent(in) :: file
    character(:), allocatable :: s
    s = 'table of materials '//file%path//', line '//Str(file%line)//': '
  end function Here

end module materials_m
