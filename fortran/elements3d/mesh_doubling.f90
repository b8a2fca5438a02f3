!> The levels of the rows of a mesh of layers, and where elements double their width downwards: along x and y, in two rows of two
!> levels (mesh_rows.f90), a doubling layer. It lies within one layer, which has at least half of its largest thickness everywhere,
!> so that no contact crosses it.
!>
!> By velocity, it begins at the uppermost layer whose elements, and those of all layers below, may be twice as wide. Each has
!> to be worth its smaller time step and the columns that it needs: elements over the time step are weighed.
module mesh_doubling_m
  use error_m, only: error_t, Fail
  use kinds_m, only: dp
  use layer_table_m, only: layer_table_t
  use mesh_rows_m, only: row_along_x, row_along_y, row_even
  use mesh_stack_m, only: Between, CountColumns, ElementsIn, layers_box_t, stack_t
  use parameter_table_m, only: SplitList
  use text_m, only: Str
  use textfile_m, only: NumberOf
  implicit none
  private
  public :: levels_t, LevelsMake, DoublingRead

  integer, parameter, public :: doublings_most = 3        !< elements at most eight times as wide
  !> Heights of the two rows of a doubling layer, in widths of the elements above: as long an edge goes down them. The larger ones
  !> leave the larger time step, these parts of that of even rows 2 widths high.
  real(dp), parameter :: low = 2.0_dp, high = 3.0_dp, step_of_low = 0.72_dp, step_of_high = 0.85_dp
  real(dp), parameter :: middle = 0.6_dp                  !< their middle level is there: steps are 4 % larger than from half-way
  real(dp), parameter :: flattest = 0.8_dp                !< part of these that will do where a layer has no more room
  real(dp), parameter :: thin = 0.5_dp                    !< part of its largest thickness that its layer has everywhere
  real(dp), parameter :: least_row = 0.5_dp               !< part of a height; what is lower makes no row beside a doubling layer
  real(dp), parameter :: dearer = 1.3_dp                  !< time of an element of a doubling row, of one of an even row

  type :: levels_t
    logical :: fit = .true.                               !< all doublings have a place
    integer, allocatable :: rows(:)                       !< from the top (mesh_rows.f90)
    integer, allocatable :: own(:)                        !< the layer of each
    integer, allocatable :: layer(:)                      !< of each level, from 0, at 1 + it; layers + 1: below the box
    real(dp), allocatable :: part(:)                      !< part of its layer above each level; below the box: depth there [m]
    integer, allocatable :: within(:)                     !< the layer of each doubling layer
    real(dp), allocatable :: from(:)                      !< mean depth of its upper side [m]
    real(dp) :: undoubled = 0                             !< elements without doubling layers
    real(dp) :: cost = 0                                  !< elements over the time step, about; the unit has no meaning
  end type levels_t

  !> A doubling layer in its layer.
  type :: doubling_t
    integer :: layer = 0
    real(dp) :: gap = 0                                   !< even rows above it, below the one before or the layer's top [m]
    real(dp) :: height(2) = 0                             !< of its rows [m]
  end type doubling_t

contains

  !> auto, none, or depths [m] joined by commas, for a box. why: what is wrong, or ''.
  subroutine DoublingRead(words, box, why)
    character(*), intent(in) :: words
    type(layers_box_t), intent(inout) :: box
    character(:), allocatable, intent(out) :: why
    character(32), allocatable :: parts(:)
    integer :: i
    logical :: ok
    why = ''
    box%doubles = words == 'auto'
    if (words == 'auto' .or. words == 'none') return
    allocate (parts, source=SplitList(words))
    allocate (box%doubling(size(parts)))
    do i = 1, size(parts)
      call NumberOf(trim(parts(i)), box%doubling(i), ok)
      if (.not. ok) why = 'must be auto, none, or depths [m] joined by commas'
    end do
    if (why /= '') return
    if (size(parts) > doublings_most) then
      why = 'has '//Str(size(parts))//' depths, at most '//Str(doublings_most)//' are possible'
    else if (any(.not. box%doubling(2:) > box%doubling(:size(parts) - 1))) then
      why = 'must hold depths that rise'
    end if
  end subroutine DoublingRead

  !> Levels with so many doublings. Where these are by velocity and have no place, they do not fit.
  subroutine LevelsMake(table, box, doublings, stack, levels, error)
    type(layer_table_t), intent(in) :: table
    type(layers_box_t), intent(in) :: box
    integer, intent(in) :: doublings
    type(stack_t), intent(in) :: stack
    type(levels_t), intent(out) :: levels
    type(error_t), allocatable, intent(inout) :: error
    type(doubling_t) :: doubling(doublings)
    integer :: columns(2), inside, d, k, l, m
    do d = 1, doublings
      if (box%doubles) then
        call ByVelocity(box, stack, 2.0_dp**d*max(stack%x%width, stack%y%width), doubling(:d), levels%fit)
      else
        call AtDepth(table, box, box%doubling(d), stack, doubling(:d), error)
      end if
      if (allocated(error) .or. .not. levels%fit) return
    end do
    m = Between(box)
    allocate (levels%rows(0), levels%own(0), levels%layer(0), levels%part(0), levels%from(0))
    do k = 1, size(stack%rows)
      call Divide(k, m, stack, pack(doubling, doubling%layer == k), levels)
    end do
    levels%within = doubling%layer
    levels%rows = [levels%rows, (row_even, l=1, stack%below)]
    levels%own = [levels%own, (size(stack%rows), l=1, stack%below)]
    levels%layer = [levels%layer, (size(stack%rows) + 1, l=0, m*stack%below)]
    levels%part = [levels%part, (box%sponge*l/max(1, m*stack%below), l=0, m*stack%below)]
    call CountColumns(box, 1, 1, columns(1), inside)
    call CountColumns(box, 2, 1, columns(2), inside)
    levels%undoubled = product(real(columns, dp))*(sum(real(stack%rows, dp)) + stack%below)
    if (box%doubles) levels%cost = Cost(box, stack, levels, doubling)
  end subroutine LevelsMake

  ! --- places of doubling layers ----------------------------------------------------------------------------------------------

  !> The place of the last of some doubling layers: the uppermost layer from which on all elements may be so wide, if it has room.
  pure subroutine ByVelocity(box, stack, width, doubling, fits)
    type(layers_box_t), intent(in) :: box
    type(stack_t), intent(in) :: stack
    real(dp), intent(in) :: width                         !< of elements below [m]
    type(doubling_t), intent(inout) :: doubling(:)
    logical, intent(out) :: fits
    integer :: d, k
    d = size(doubling)
    fits = .true.
    do k = max(1, maxval(doubling(:d - 1)%layer)), size(stack%rows)
      if (any(box%widest(k:) < width*(1 - 1.0e-6_dp))) cycle
      if (any(stack%used(:, :, k) < stack%true(:, :, k))) cycle         ! rows reach up into the layer above
      if (Thinnest(stack, k) < thin*stack%thick(k)) cycle
      doubling(d)%layer = k
      doubling(d)%height = Heights(box, stack, d, k)
      if (flattest*Need(pack(doubling, doubling%layer == k)) <= stack%thick(k)) return
    end do
    fits = .false.
  end subroutine ByVelocity

  !> The place of the last of some doubling layers: where a depth [m] is on average.
  subroutine AtDepth(table, box, depth, stack, doubling, error)
    type(layer_table_t), intent(in) :: table
    type(layers_box_t), intent(in) :: box
    real(dp), intent(in) :: depth
    type(stack_t), intent(in) :: stack
    type(doubling_t), intent(inout) :: doubling(:)
    type(error_t), allocatable, intent(inout) :: error
    character(:), allocatable :: here
    real(dp) :: before, after, room
    integer :: d, k, n
    d = size(doubling)
    n = size(stack%rows)
    here = 'mesh_doubling = '//Str(depth)//' m: '
    k = count([(MeanDepth(stack, k, 0.0_dp) <= depth, k=1, n + 1)])
    if (k < 1 .or. k > n) then
      call Fail(error, here//'there is no layer of '//table%path//', which are, on average, between '// &
                Str(MeanDepth(stack, 1, 0.0_dp), 5)//' and '//Str(MeanDepth(stack, n, 1.0_dp), 5)//' m')
      return
    end if
    k = max(k, maxval(doubling(:d - 1)%layer))
    associate (this => doubling(d), name => table%layer(k)%name)
      if (Thinnest(stack, k) < thin*stack%thick(k)) then
        call Fail(error, here//'layer '//name//' is '//Str(stack%thick(k), 4)//' m thick at most and only '// &
                  Str(Thinnest(stack, k), 4)//' m where it is thinnest: doubling layers need half of it everywhere, '// &
                  'give a depth in another layer')
        return
      end if
      this%layer = k
      this%height = Heights(box, stack, d, k)
      before = Need(pack(doubling(:d - 1), doubling(:d - 1)%layer == k))
      after = before + sum(this%height)
      room = stack%thick(k) - after
      if (room < (flattest - 1)*after) then
        call Fail(error, here//'layer '//name//' is '//Str(stack%thick(k), 4)//' m thick at most, and there doubling layers, '// &
                  'and what is above them, need '//Str(flattest*after, 4)//' m: give a depth in a thicker layer, fewer depths, '// &
                  'or narrower elements (mesh_dx, mesh_dy)')
        return
      end if
      this%gap = (depth - MeanDepth(stack, k, 0.0_dp))/(MeanDepth(stack, k, 1.0_dp) - MeanDepth(stack, k, 0.0_dp))*stack%thick(k)
      this%gap = max(0.0_dp, min(room, this%gap - before))
    end associate
  end subroutine AtDepth

  !> Of the rows of doubling layer d in layer k [m].
  pure function Heights(box, stack, d, k) result(height)
    type(layers_box_t), intent(in) :: box
    type(stack_t), intent(in) :: stack
    integer, intent(in) :: d, k
    real(dp) :: height(2)
    height = 2**(d - 1)*[stack%x%width, stack%y%width]
    height = max(low*height, min(high*height, box%widest(k)))
  end function Heights

  !> Of doubling layers and what is above them in their layer [m].
  pure real(dp) function Need(doubling)
    type(doubling_t), intent(in) :: doubling(:)
    Need = sum(doubling%gap) + sum(doubling%height(1)) + sum(doubling%height(2))
  end function Need

  pure real(dp) function Thinnest(stack, k)
    type(stack_t), intent(in) :: stack
    integer, intent(in) :: k
    Thinnest = minval(stack%used(:, :, k + 1) - stack%used(:, :, k))
  end function Thinnest

  !> Of a part of a layer, 0 its upper and 1 its lower side; layer + 1: the bottom [m].
  pure real(dp) function MeanDepth(stack, k, part) result(depth)
    type(stack_t), intent(in) :: stack
    integer, intent(in) :: k
    real(dp), intent(in) :: part
    depth = sum(stack%used(:, :, k))/size(stack%used(:, :, k))
    if (part > 0) depth = depth + part*(sum(stack%used(:, :, k + 1))/size(stack%used(:, :, k)) - depth)
  end function MeanDepth

  ! --- what a mesh costs ------------------------------------------------------------------------------------------------------

  !> Elements over the time step, as far as rows in the box tell: a row by its fastest wave and by its heights where it is lowest.
  pure real(dp) function Cost(box, stack, levels, doubling)
    type(layers_box_t), intent(in) :: box
    type(stack_t), intent(in) :: stack
    type(levels_t), intent(in) :: levels
    type(doubling_t), intent(in) :: doubling(:)
    real(dp) :: rate, width(2), thin, part, fastest
    integer :: step(2), r, level, d, k, m
    m = Between(box)
    step = 1
    rate = 0
    Cost = 0
    level = 1
    d = 0
    do r = 1, size(levels%rows) - stack%below
      k = levels%own(r)
      fastest = FastestIn(box, stack, k)
      width = step*[stack%x%width, stack%y%width]
      associate (row => levels%rows(r))
        if (row == row_even) then
          part = 1 - levels%part(level)
          if (levels%layer(level + m) == k) part = levels%part(level + m) - levels%part(level)
          rate = max(rate, fastest*sqrt(sum(1/width**2) + 1/(part*Thinnest(stack, k))**2))
          Cost = Cost + product(real([stack%x%columns, stack%y%columns]/step, dp))
          level = level + m
        else
          if (row == row_along_x) d = d + 1
          thin = doubling(d)%height(row)/width(row)
          thin = step_of_low + (step_of_high - step_of_low)*(min(high, thin) - low)/(high - low)
          rate = max(rate, fastest*sqrt(2.25_dp)/(minval(width)*thin))
          Cost = Cost + dearer*1.5_dp*product(real([stack%x%columns, stack%y%columns]/step, dp))
          step(row) = 2*step(row)
          level = level + 2*m
        end if
      end associate
    end do
    Cost = (Cost + product(real([stack%x%columns, stack%y%columns]/step, dp))*stack%below)*rate
  end function Cost

  !> The velocity of the fastest wave in the rows of a layer, which may reach into those below [m/s].
  pure real(dp) function FastestIn(box, stack, k) result(v)
    type(layers_box_t), intent(in) :: box
    type(stack_t), intent(in) :: stack
    integer, intent(in) :: k
    integer :: l
    v = box%fastest(k)
    do l = k + 1, size(stack%rows)
      if (all(stack%used(:, :, l) <= stack%true(:, :, l))) exit
      v = max(v, box%fastest(l))
    end do
  end function FastestIn

  ! --- levels -----------------------------------------------------------------------------------------------------------------

  !> Adds the rows and levels of a layer with its doubling layers.
  subroutine Divide(k, m, stack, doubling, levels)
    integer, intent(in) :: k, m
    type(stack_t), intent(in) :: stack
    type(doubling_t), intent(in) :: doubling(:)
    type(levels_t), intent(inout) :: levels
    real(dp) :: all, from
    integer :: d, l
    if (size(doubling) == 0) then
      levels%rows = [levels%rows, (row_even, l=1, stack%rows(k))]
      levels%own = [levels%own, (k, l=1, stack%rows(k))]
      levels%layer = [levels%layer, (k, l=1, m*stack%rows(k))]
      levels%part = [levels%part, (real(l, dp)/(m*stack%rows(k)), l=0, m*stack%rows(k) - 1)]
      return
    end if
    all = sum(doubling%height(1)) + sum(doubling%height(2)) + Kept(stack%thick(k) - Need(doubling))
    do d = 1, size(doubling)
      all = all + Kept(doubling(d)%gap)
    end do
    from = 0
    do d = 1, size(doubling)
      call AddEven(doubling(d)%gap)
      levels%from = [levels%from, MeanDepth(stack, k, from)]
      call Add(row_along_x, doubling(d)%height(1))
      call Add(row_along_y, doubling(d)%height(2))
    end do
    call AddEven(stack%thick(k) - Need(doubling))

  contains

    !> The height of even rows, or 0 where they would be too low.
    pure real(dp) function Kept(height)
      real(dp), intent(in) :: height
      Kept = merge(0.0_dp, height, height < least_row*stack%thick(k)/stack%rows(k))
    end function Kept

    subroutine AddEven(height)
      real(dp), intent(in) :: height
      integer :: n
      if (.not. Kept(height) > 0) return
      n = ElementsIn(height, stack%thick(k)/stack%rows(k))
      do l = 1, n
        call Add(row_even, height/n)
      end do
    end subroutine AddEven

    subroutine Add(row, height)
      integer, intent(in) :: row
      real(dp), intent(in) :: height
      integer :: i
      levels%rows = [levels%rows, row]
      levels%own = [levels%own, k]
      if (row == row_even) then
        levels%layer = [levels%layer, (k, i=1, m)]
        levels%part = [levels%part, (from + height/all*i/m, i=0, m - 1)]
      else
        levels%layer = [levels%layer, (k, i=1, 2*m)]
        levels%part = [levels%part, (from + height/all*middle*i/m, i=0, m - 1), &
                       (from + height/all*(middle + (1 - middle)*i/m), i=0, m - 1)]
      end if
      from = from + height/all
    end subroutine Add

  end subroutine Divide

end module mesh_doubling_m
