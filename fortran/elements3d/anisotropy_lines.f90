!> Anisotropic blocks in a table of materials: what follows the name of the block.
!>
!> cij rho c11 c12 c13 c14 c15 c16 c22 c23 .. c66       21 constants [Pa], in the order of Voigt (anisotropy.f90), along the axes
!>                                                          x, y, z of the mesh, whose z points where mesh_z says
!>     vti vp vs rho epsilon delta gamma                    a vertical axis: Thomsen's parameters, vp and vs along it [m/s]
!>     tti vp vs rho epsilon delta gamma tilt azimuth       an axis `tilt` degrees away from the vertical, whose upper end leans to
!>                                                          where `azimuth` degrees from x to y are: layers dip by tilt to there
!>
!> and then, where it attenuates, two quality factors. These are of the isotropic average: with Qmu an S wave of stiffness c loses
!> mu/c of 1/Qmu.
module anisotropy_lines_m
  use anisotropy_m, only: aniso_constants, AnisoMatrix, AnisoPositive, AnisoThomsen, AnisoUpsideDown
  use error_m, only: error_t, Fail
  use kinds_m, only: dp
  use text_m, only: Lower, Str, StrAtMost
  implicit none
  private
  public :: AnisoKind, AnisoNumbers, AnisoLine

  integer, parameter :: aniso_cij = 1, aniso_tti = 3         !< places of words
  character(3), parameter :: words(3) = ['cij', 'vti', 'tti']
  integer, parameter :: numbers(3) = [1 + aniso_constants, 6, 8]

contains

  !> The kind that a word tells, or 0.
  pure integer function AnisoKind(word)
    character(*), intent(in) :: word
    AnisoKind = 0
    if (len(word) == 3) AnisoKind = findloc(words, Lower(word), 1)
  end function AnisoKind

  !> Numbers of a line of a kind, before quality factors.
  pure integer function AnisoNumbers(kind)
    integer, intent(in) :: kind
    AnisoNumbers = numbers(kind)
  end function AnisoNumbers

  !> The density [kg/m3] and the constants [Pa], z down, that the numbers of a line tell. z_up: z of the mesh points up. here: what
  !> begins sentences on what is wrong; it names the block.
  subroutine AnisoLine(kind, value, z_up, here, rho, c, error)
    integer, intent(in) :: kind
    real(dp), intent(in) :: value(:)
    logical, intent(in) :: z_up
    character(*), intent(in) :: here
    real(dp), intent(out) :: rho, c(6, 6)
    type(error_t), allocatable, intent(inout) :: error
    real(dp) :: turned(2)
    logical :: possible
    c = 0
    if (kind == aniso_cij) then
      rho = value(1)
      if (.not. (rho >= 1 .and. rho <= 30000)) then
        call Fail(error, here//'rho = '//Str(rho)//' kg/m3, must be 1 .. 30000')
        return
      end if
      c = AnisoMatrix(value(2:numbers(1)))
      if (z_up) c = AnisoUpsideDown(c)
    else
      rho = value(3)
      turned = 0
      if (kind == aniso_tti) turned = value(7:8)
      if (.not. (value(1) >= 50 .and. value(1) <= 15000 .and. value(2) > 0 .and. value(2) <= 15000 .and. &
                 rho >= 1 .and. rho <= 30000)) then
        call Fail(error, here//'vp = '//Str(value(1))//', vs = '//Str(value(2))//' m/s, rho = '//Str(rho)// &
                  ' kg/m3, must be 50 .. 15000, above 0 up to 15000, and 1 .. 30000')
        return
      else if (any(abs(value(4:6)) > 10)) then
        call Fail(error, here//'epsilon = '//Str(value(4))//', delta = '//Str(value(5))//', gamma = '//Str(value(6))// &
                  ' are no parameters of Thomsen (per cent? give parts of 1)')
        return
      end if
      call AnisoThomsen(value(1), value(2), rho, value(4), value(5), value(6), turned(1), turned(2), c, possible)
      if (.not. possible) then
        call Fail(error, here//'no medium has vp = '//Str(value(1))//', vs = '//Str(value(2))//' m/s and delta = '// &
                  Str(value(5))// &
                  ': delta must be at least -'//StrAtMost((1 - (value(2)/value(1))**2)/2, 4))
        return
      end if
    end if
    if (.not. (maxval(abs(c)) >= 1.0e6_dp .and. maxval(abs(c)) <= 1.0e14_dp)) then       ! first: pivots of larger ones overflow
      call Fail(error, here//'the largest constant is '//Str(maxval(abs(c)))//' Pa, must be 1e6 .. 1e14 (GPa? give Pa)')
    else if (.not. AnisoPositive(c)) then
      call Fail(error, here//'the matrix of its constants c11 .. c66 is not positive definite: a strain would set energy free')
    end if
  end subroutine AnisoLine

end module anisotropy_lines_m
