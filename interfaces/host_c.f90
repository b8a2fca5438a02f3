!> The machine under a rank: its name, cores, clock, terminal and signals.
module host_c
  use iso_c_binding, only: c_char, c_double, c_int, c_long
  implicit none
  private
  public :: host_cores, host_cores_hash, host_nap, host_seconds, host_terminal, host_name, host_processor
  public :: host_catch_signals, host_signals_end, host_signal, host_signal_name, host_terms, host_terminator, host_resumed
  public :: host_folder, host_program
  public :: host_alarm, host_memory, host_keep_memory, host_preset, posix_exit
  public :: host_standard_files, host_outlive_readers, host_print, host_stack

  interface
    !> Cores this process may run on.
    integer(c_int) function host_cores() bind(c)
      import :: c_int
      implicit none
    end function host_cores

    !> A number that tells one set of cores from another; equal for processes bound to the same cores.
    integer(c_long) function host_cores_hash() bind(c)
      import :: c_long
      implicit none
    end function host_cores_hash

    !> Sleeps for so many seconds.
    subroutine host_nap(seconds) bind(c)
      import :: c_double
      implicit none
      real(c_double), value :: seconds
    end subroutine host_nap

    !> Seconds of a clock that never jumps.
    real(c_double) function host_seconds() bind(c)
      import :: c_double
      implicit none
    end function host_seconds

    !> 1 if stderr is a terminal.
    integer(c_int) function host_terminal() bind(c)
      import :: c_int
      implicit none
    end function host_terminal

    !> Name of the host, null-terminated, into `name(n)`.
    subroutine host_name(name, n) bind(c)
      import :: c_char, c_int
      implicit none
      integer(c_int), value :: n
      character(kind=c_char), intent(out) :: name(n)
    end subroutine host_name

    !> Model of the processor, null-terminated, into `name(n)`.
    subroutine host_processor(name, n) bind(c)
      import :: c_char, c_int
      implicit none
      integer(c_int), value :: n
      character(kind=c_char), intent(out) :: name(n)
    end subroutine host_processor

    !> Memory that processes here may use at most, and that is available to new ones [bytes]; caches that the system would give back
    !> count as available, and limits of control groups (versions 1 and 2) are respected. Both are 0 where the system does not say.
    !> `root` (null-terminated): where the system's files are looked for, '' = the system.
    subroutine host_memory(root, total, available) bind(c)
      import :: c_char, c_long
      implicit none
      character(kind=c_char), intent(in) :: root(*)
      integer(c_long), intent(out) :: total, available
    end subroutine host_memory

    !> From now on memory that is given back stays with the process, for the next shot: up to 256 MB, in pieces of up to 32 MB.
    subroutine host_keep_memory() bind(c)
      implicit none
    end subroutine host_keep_memory

    !> From now on SIGINT, SIGTERM and SIGUSR1, and where they are not ignored SIGUSR2, SIGXCPU and SIGHUP, are remembered
    !> instead of ending the process; SIGCONT is counted.
    subroutine host_catch_signals() bind(c)
      implicit none
    end subroutine host_catch_signals

    !> From now on such a signal that is caught, or one that came before, ends the process at once with a sentence and this status;
    !> 0: not any more.
    subroutine host_signals_end(status) bind(c)
      import :: c_int
      implicit none
      integer(c_int), value :: status
    end subroutine host_signals_end

    !> Standard input, output and error that are closed become /dev/null: else the next files opened, or what MPI talks through,
    !> would have their numbers and get what is printed. A file that would be larger than a process may make it is an error from now
    !> on, and no end of the process (SIGXFSZ).
    subroutine host_standard_files() bind(c)
      implicit none
    end subroutine host_standard_files

    !> Raises a limit of the stack that is too low for the programs, to as much as a process may have. Fails where that is too
    !> little: the first deep call would end the process with a segmentation fault.
    integer(c_int) function host_stack() bind(c)
      import :: c_int
      implicit none
    end function host_stack

    !> From now on the end of who reads what this process prints does not end the process.
    subroutine host_outlive_readers() bind(c)
      implicit none
    end subroutine host_outlive_readers

    !> Prints `text(n)` to standard output. Fails where not all of it could be written.
    integer(c_int) function host_print(n, text) bind(c)
      import :: c_char, c_int, c_long
      implicit none
      integer(c_long), value :: n
      character(kind=c_char), intent(in) :: text(n)
    end function host_print

    !> The number of the signal that came, 0 if none did.
    integer(c_int) function host_signal() bind(c)
      import :: c_int
      implicit none
    end function host_signal

    !> The name of a signal that asks a job to end, null-terminated, '' of any other one.
    subroutine host_signal_name(number, n, name) bind(c)
      import :: c_char, c_int
      implicit none
      integer(c_int), value :: number, n
      character(kind=c_char), intent(out) :: name(n)
    end subroutine host_signal_name

    !> Number of signals SIGCONT that came: this process goes on, if it was stopped.
    integer(c_int) function host_resumed() bind(c)
      import :: c_int
      implicit none
    end function host_resumed

    !> Number of signals SIGINT and SIGTERM that came, without those within two seconds of the first SIGTERM: that, handed on.
    integer(c_int) function host_terms() bind(c)
      import :: c_int
      implicit none
    end function host_terms

    !> Sender of SIGTERM: 0 nobody, 1 some process, 2 the process that started this one (mpirun, or Slurm's daemon).
    integer(c_int) function host_terminator() bind(c)
      import :: c_int
      implicit none
    end function host_terminator

    !> The folder this process works in, at most n - 1 characters and a null; empty where it cannot be told, or is longer.
    subroutine host_folder(n, path) bind(c)
      import :: c_char, c_int
      implicit none
      integer(c_int), value :: n
      character(kind=c_char), intent(out) :: path(n)
    end subroutine host_folder

    !> The file of the program that runs, as host_folder tells its folder.
    subroutine host_program(n, path) bind(c)
      import :: c_char, c_int
      implicit none
      integer(c_int), value :: n
      character(kind=c_char), intent(out) :: path(n)
    end subroutine host_program

    !> Ends the process with `status` and `words` on standard error, unless it has ended by itself in so many seconds; 0: no more.
    subroutine host_alarm(seconds, status, words) bind(c)
      import :: c_char, c_int
      implicit none
      integer(c_int), value :: seconds, status
      character(kind=c_char), intent(in) :: words(*)
    end subroutine host_alarm

    !> Ends the process here and now: no MPI, no handlers, no buffers.
    subroutine posix_exit(status) bind(c, name='_exit')
      import :: c_int
      implicit none
      integer(c_int), value :: status
    end subroutine posix_exit

    !> Sets a variable of the environment of this process where there is none of that name.
    subroutine host_preset(name, value) bind(c)
      import :: c_char
      implicit none
      character(kind=c_char), intent(in) :: name(*), value(*)
    end subroutine host_preset
  end interface
end module host_c
