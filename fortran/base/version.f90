!> Version and commit of this code. They stand in a submodule: with the next commit it alone is compiled again.
module version_m
  implicit none
  private
  public :: VersionNumber, VersionText

  interface
    !> "0.1.0"
    module function VersionNumber() result(s)
      character(:), allocatable :: s
    end function VersionNumber

    !> "0.1.0 (commit 1234abc)"
    module function VersionText() result(s)
      character(:), allocatable :: s
    end function VersionText
  end interface

end module version_m
