!> A trace filter as two band matrices, for those that filter traces where they are (trace_band of handle_c.f90): the same
!> numbers as TraceFilterApply has, in groups of four rows.
module trace_bands_m
  use kinds_m, only: sp
  use time_dispersion_m, only: tracefilter_t
  implicit none
  private
  public :: band_t, TraceBands

  integer, parameter :: lanes = 4             !< rows of a group

  !> y = m (gain x); rows 4 g .. 4 g + 3 (from 0) of group g are m(:, at(g)) .. m(:, at(g) + count(g) - 1), from column first(g) on.
  type :: band_t
    integer :: columns = 0, rows = 0
    real(sp), allocatable :: gain(:)          !< (columns); not allocated: 1
    integer, allocatable :: first(:), count(:), at(:)   !< (groups), from 0
    real(sp), allocatable :: m(:, :)          !< (4, n)
  end type band_t

contains

  !> Raw samples -> thinned -> output.
  subroutine TraceBands(f, band)
    type(tracefilter_t), intent(in) :: f
    type(band_t), intent(out) :: band(2)
    call ThinningBand(f, band(1))
    call OutputBand(f, band(2))
  end subroutine TraceBands

  !> All groups have the same numbers.
  subroutine ThinningBand(f, band)
    type(tracefilter_t), intent(in) :: f
    type(band_t), intent(out) :: band
    integer :: g, groups, width, i, j, away
    associate (d => f%thin)
      band%columns = d%nt
      band%rows = d%n
      band%gain = f%gain
      groups = (d%n + lanes - 1)/lanes
      width = (lanes - 1)*d%factor + 2*d%half + 1
      band%first = [((lanes*g - d%lead)*d%factor - d%half, g=0, groups - 1)]
      band%count = spread(width, 1, groups)
      band%at = spread(0, 1, groups)
      allocate (band%m(lanes, width), source=0.0_sp)
      do i = 1, width
        do j = 1, lanes
          away = abs(i - 1 - d%half - (j - 1)*d%factor)
          if (away <= d%half) band%m(j, i) = real(d%h(away), sp)
        end do
      end do
    end associate
  end subroutine ThinningBand

  subroutine OutputBand(f, band)
    type(tracefilter_t), intent(in) :: f
    type(band_t), intent(out) :: band
    integer :: b, g, row, last, n, groups
    band%columns = f%thin%n
    band%rows = f%nt_out
    groups = (f%nt_out + lanes - 1)/lanes
    allocate (band%first(groups), band%count(groups), band%at(groups), source=0)
    n = 0
    do b = 1, size(f%blocks)
      n = n + size(f%blocks(b)%m, 2)*((size(f%blocks(b)%m, 1) + lanes - 1)/lanes)
    end do
    allocate (band%m(lanes, n), source=0.0_sp)
    n = 0
    do b = 1, size(f%blocks)
      associate (m => f%blocks(b)%m)
        do row = 1, size(m, 1), lanes                     ! blocks begin where groups do
          g = (f%blocks(b)%row + row - 2)/lanes + 1
          last = min(row + lanes - 1, size(m, 1))
          band%first(g) = f%blocks(b)%column - 1
          band%count(g) = size(m, 2)
          band%at(g) = n
          band%m(:last - row + 1, n + 1:n + size(m, 2)) = m(row:last, :)
          n = n + size(m, 2)
        end do
      end associate
    end do
  end subroutine OutputBand

end module trace_bands_m
