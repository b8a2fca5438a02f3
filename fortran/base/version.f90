!> Version and commit of this code.
module version_m
  implicit none
  private
  public :: VersionNumber, VersionText

  include 'commit.inc'                          ! VERSION (tools/spltools/__init__.py), COMMIT of the sources this was built from

contains

  !> "0.1.0"
  function VersionNumber() result(s)
    character(:), allocatable :: s
    s = VERSION
  end function VersionNumber

  !> "0.1.0 (commit 1234abc)"
  function VersionText() result(s)
    character(:), allocatable :: s
    s = VERSION//' (commit '//COMMIT//')'
  end function VersionText

end module version_m
