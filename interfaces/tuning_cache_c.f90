!> Measurements kept from one run to the next, in the user's cache folder ($XDG_CACHE_HOME, else ~/.cache): a text file a subject,
!> SplFd2dmod-SUBJECT, with lines `key = text`. It may be deleted at any time. Nothing but speed may depend on it.
module tuning_cache_c
  use iso_c_binding, only: c_int, c_char
  implicit none
  private
  public :: tuning_cache_find, tuning_cache_add, tuning_cache_path

  interface
    !> 0 and the newest text noted for a key, at most `length` characters with the null; 1 if there is none.
    integer(c_int) function tuning_cache_find(subject, key, length, text) bind(c)
      import :: c_int, c_char
      implicit none
      character(kind=c_char), intent(in) :: subject(*), key(*)
      integer(c_int), value :: length
      character(kind=c_char), intent(out) :: text(*)
    end function tuning_cache_find

    !> The file of a subject: at most n characters with the null; 1 where there is no cache folder.
    integer(c_int) function tuning_cache_path(subject, n, path) bind(c)
      import :: c_int, c_char
      implicit none
      character(kind=c_char), intent(in) :: subject(*)
      integer(c_int), value :: n
      character(kind=c_char), intent(out) :: path(*)
    end function tuning_cache_path

    !> Notes a text for a key; both without = and line ends. 1 if it cannot be noted, which does not matter. Nothing is added to a
    !> file that does not begin with a note.
    integer(c_int) function tuning_cache_add(subject, key, text) bind(c)
      import :: c_int, c_char
      implicit none
      character(kind=c_char), intent(in) :: subject(*), key(*), text(*)
    end function tuning_cache_add
  end interface
end module tuning_cache_c
