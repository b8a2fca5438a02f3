!> Rows of a model's samples on their way to cells that hold several of them, and rows of cells on both sides of contacts: the
!> loops of mixed_rows.f90 and contact_cells.f90.
module mixed_rows_c
  use iso_c_binding, only: c_double, c_float, c_int, c_int8_t
  implicit none
  private
  public :: mixed_row_add, mixed_row_weigh, mixed_row_cells, contact_row_soften, contact_row_decide, contact_row_finish, &
            contact_row_speeds

  interface
    !> Adds w of each of n samples to sums, which `fresh` sets to that: density, 1/(rho vp**2), 1/(rho vs**2), logarithms of
    !> the moduli, their squares, 1/Qp, 1/Qs; and notes in `kinds` what it is: 1 air, 2 a fluid, 4 rock. qp and qs are read
    !> where q is not 0.
    subroutine mixed_row_add(n, fresh, q, w, vp, vs, rho, qp, qs, sums, kinds) bind(c)
      import :: c_double, c_float, c_int, c_int8_t
      implicit none
      integer(c_int), value :: n, fresh, q
      real(c_double), value :: w
      real(c_float), intent(in) :: vp(*), vs(*), rho(*), qp(*), qs(*)      !< (n)
      real(c_double), intent(inout) :: sums(*)                             !< (n, 9)
      integer(c_int8_t), intent(inout) :: kinds(*)                         !< (n)
    end subroutine mixed_row_add

    !> Adds w times the sums of a row to those of another, and its kinds; `fresh` as above.
    subroutine mixed_row_weigh(n, fresh, w, from, from_kinds, sums, kinds) bind(c)
      import :: c_double, c_int, c_int8_t
      implicit none
      integer(c_int), value :: n, fresh
      real(c_double), value :: w
      real(c_double), intent(in) :: from(*)                                !< (n, 9)
      integer(c_int8_t), intent(in) :: from_kinds(*)                       !< (n)
      real(c_double), intent(inout) :: sums(*)
      integer(c_int8_t), intent(inout) :: kinds(*)
    end subroutine mixed_row_weigh

    !> Cells of one kind each from the sums of a row of n samples: cell i has weights w(i, :) of the samples at(i, :), from
    !> 0.
    subroutine mixed_row_cells(cells, n, widest, at, w, sums, kinds, room, cell_kinds, medium, u, v) bind(c)
      import :: c_double, c_float, c_int, c_int8_t
      implicit none
      integer(c_int), value :: cells, n, widest
      integer(c_int), intent(in) :: at(*)                                  !< (cells, widest)
      real(c_double), intent(in) :: w(*)                                   !< (cells, widest)
      real(c_double), intent(in) :: sums(*)                                !< (n, 9)
      integer(c_int8_t), intent(in) :: kinds(*)                            !< (n)
      real(c_double), intent(inout) :: room(*)                             !< (cells, 9)
      integer(c_int8_t), intent(inout) :: cell_kinds(*)                    !< (cells)
      real(c_float), intent(inout) :: medium(*)                            !< (5, cells)
      real(c_float), intent(inout) :: u(*), v(*)                           !< (cells, 2)
    end subroutine mixed_row_cells

    !> exp(-u) of n cells of a row; 0 where u is 0.
    subroutine contact_row_soften(n, u, soft) bind(c)
      import :: c_float, c_int
      implicit none
      integer(c_int), value :: n
      real(c_float), intent(in) :: u(*)
      real(c_float), intent(inout) :: soft(*)
    end subroutine contact_row_soften

    !> Decides, for n cells of a row and one kind of wave, how much each gives to those beside it along x, y and z: by mean
    !> and variance of logarithms of its modulus, and the means beside it. u begins one cell before the row.
    subroutine contact_row_decide(n, most, u, front, behind, above, below, v, px, py, pz) bind(c)
      import :: c_float, c_int
      implicit none
      integer(c_int), value :: n
      real(c_float), value :: most
      real(c_float), intent(in) :: u(*)                                    !< (0:n+1)
      real(c_float), intent(in) :: front(*), behind(*), above(*), below(*), v(*)    !< (n)
      real(c_float), intent(inout) :: px(*), py(*), pz(*)                  !< (n)
    end subroutine contact_row_decide

    !> Moduli of one kind of wave of n cells of a row, from 1/exp(u) of the cells beside it, what it gives and what it is
    !> given, at most `most`: changed(i) becomes 1 where something is. px and soft begin one cell before the row.
    subroutine contact_row_finish(n, most, soft, soft_y, soft_z, px, py, pz, got_y, got_z, modulus, changed) bind(c)
      import :: c_float, c_int, c_int8_t
      implicit none
      integer(c_int), value :: n
      real(c_float), value :: most
      real(c_float), intent(in) :: soft(*), px(*)                          !< (0:n+1)
      real(c_float), intent(in) :: soft_y(*), soft_z(*)                    !< (n, 2): in front, behind; above, below
      real(c_float), intent(in) :: py(*), pz(*)                            !< (n)
      real(c_float), intent(in) :: got_y(*), got_z(*)                      !< (n): from in front less from behind; above less below
      real(c_float), intent(inout) :: modulus(*)                           !< (n)
      integer(c_int8_t), intent(inout) :: changed(*)
    end subroutine contact_row_finish

    !> vp and vs of the cells of a row whose moduli changed, mu at most so many times lambda + 2 mu; those with u = 0 stay.
    subroutine contact_row_speeds(n, resists, modulus, changed, u, rho, vp, vs) bind(c)
      import :: c_float, c_int, c_int8_t
      implicit none
      integer(c_int), value :: n
      real(c_float), value :: resists
      real(c_float), intent(in) :: modulus(*)                              !< (n, 2)
      integer(c_int8_t), intent(in) :: changed(*)
      real(c_float), intent(in) :: u(*), rho(*)
      real(c_float), intent(inout) :: vp(*), vs(*)
    end subroutine contact_row_speeds
  end interface
end module mixed_rows_c
