!> Fingerprints of a key-map: of what decides the traces, and of its navigation. Arguments stand in keymap.f90.
submodule(keymap_m) keymap_fingerprint
  use hash_m, only: hash_t, HashAdd, HashText
  use spread_m, only: SpreadHash, SpreadKnown
  implicit none

contains

  module procedure Fingerprint
    type(hash_t), allocatable :: spreads(:)
    logical, allocatable :: known(:)
    type(hash_t) :: hash
    integer :: i
    allocate (spreads(maxval(keymap%spread)))
    allocate (known(size(spreads)), source=.false.)
    do i = 1, keymap%n
      associate (s => keymap%spread(i))
        if (.not. known(s)) spreads(s) = SpreadHash(keymap%spreads, s)
        known(s) = .true.
        call HashAdd(hash, keymap%record(i))
        call HashAdd(hash, keymap%sx(i))
        call HashAdd(hash, keymap%sy(i))
        call HashAdd(hash, keymap%sz(i))
        call HashAdd(hash, spreads(s))
      end associate
    end do
    keymap%hash = HashText(hash)
  end procedure Fingerprint

  module procedure MapFingerprint
    type(hash_t), allocatable :: spreads(:)
    logical, allocatable :: known(:)
    type(hash_t) :: hash
    type(shot_t) :: shot
    character(name_length), allocatable :: names(:)
    integer :: i, j
    associate (nav => keymap%navigation)
      call HashAdd(hash, [(ichar(nav%crs(j:j)), j=1, len(nav%crs))])
      call HashAdd(hash, [nav%e0, nav%n0, nav%azimuth])
      call HashAdd(hash, merge(1, 0, [nav%ruled, nav%left, nav%kept]))
    end associate
    allocate (spreads(maxval(keymap%spread)))
    allocate (known(size(spreads)), source=.false.)
    do i = 1, keymap%n
      associate (s => keymap%spread(i), source => keymap%source(i))
        if (.not. known(s) .and. SpreadKnown(keymap%spreads, s) > 0) then
          call KeymapShot(keymap, i, shot)
          call KeymapNavigate(keymap, i, shot)
          call HashAdd(spreads(s), shot%navigation%re)
          call HashAdd(spreads(s), shot%navigation%rn)
          call HashAdd(spreads(s), shot%navigation%rh)
          call HashAdd(spreads(s), shot%navigation%rline)
          call HashAdd(spreads(s), shot%navigation%station)
        end if
        known(s) = .true.
        call HashAdd(hash, [source%e, source%n, source%h, source%point])
        call HashAdd(hash, source%line)
        call HashAdd(hash, spreads(s))
      end associate
    end do
    names = KeymapLines(keymap)
    do i = 1, size(names)
      call HashAdd(hash, [(ichar(names(i)(j:j)), j=1, len(names))])
    end do
    keymap%navigation_hash = HashText(hash)
  end procedure MapFingerprint

end submodule keymap_fingerprint
