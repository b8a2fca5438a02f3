!> The files of a state, of which each rank of a group has one, and memory for what is in them. Arguments stand in checkpoint.f90.
submodule(checkpoint_m) checkpoint_files
  use error_m, only: Fail, FailFromC
  use group_m, only: GroupTell
  use host_c, only: host_memory
  use iso_c_binding, only: c_f_pointer, c_long, c_null_char
  use statefile_c, only: statefile_drop, statefile_room
  use text_m, only: CString
  implicit none

contains

  module procedure Off
    Off = .not. abs(checkpointer%rule%interval) > 0
  end procedure Off

  module procedure Path
    name = checkpointer%rule%folder//'/shot'//Str(record)
    if (Grouped(checkpointer)) name = name//'.'//Str(checkpointer%group%mine)//'of'//Str(Ranks(checkpointer))
    name = name//merge('.a', '.b', turn == 0)//'.state'
  end procedure Path

  module procedure Grouped
    Grouped = Ranks(checkpointer) > 1
  end procedure Grouped

  module procedure Ranks
    Ranks = 1
    if (associated(checkpointer%group)) Ranks = checkpointer%group%n
  end procedure Ranks

  module procedure Tell
    if (Grouped(checkpointer)) call GroupTell(checkpointer%group, text, error)
  end procedure Tell

  module procedure GetRoom
    type(c_ptr) :: room
    integer(c_long) :: total, available
    nullify (state)
    if (n > checkpointer%room) then
      call host_memory(c_null_char, total, available)
      if (available > 0 .and. n > available/8) &
        call Fail(error, 'it needs '//Str(4e-9_dp*n, 3)//' GB of memory, and no more than '//Str(1e-9_dp*available, 3)// &
                  ' GB are available')
      if (allocated(error)) return
    end if
    room = statefile_room(checkpointer%writer, n)
    if (.not. c_associated(room)) then
      checkpointer%room = 0
      call FailFromC(1, error)
    else
      call c_f_pointer(room, state, [n])
      checkpointer%room = max(checkpointer%room, n)
    end if
  end procedure GetRoom

  module procedure Remove
    call statefile_drop(CString(checkpointer%rule%folder), record)
  end procedure Remove

end submodule checkpoint_files
