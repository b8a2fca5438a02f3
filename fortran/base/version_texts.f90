!> Version and commit as the Makefile found them.
submodule(version_m) version_texts
  implicit none

  include 'commit.inc'                          ! VERSION (tools/spltools/__init__.py), COMMIT of the sources this was built from

contains

  module procedure VersionNumber
    s = VERSION
  end procedure VersionNumber

  module procedure VersionText
    s = VERSION//' (commit '//COMMIT//')'
  end procedure VersionText

end submodule version_texts
