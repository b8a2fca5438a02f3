!> A part of a message that only its own physics understands: numbers, samples and a text.
module parcel_m
  use kinds_m, only: dp, sp
  implicit none
  private
  public :: parcel_t, ParcelEmpty

  type :: parcel_t
    real(dp), allocatable :: numbers(:)
    real(sp), allocatable :: samples(:)
    character(:), allocatable :: text
  end type parcel_t

contains

  !> Gives what is not there a size of 0.
  subroutine ParcelEmpty(parcel)
    type(parcel_t), intent(inout) :: parcel
    if (.not. allocated(parcel%numbers)) allocate (parcel%numbers(0))
    if (.not. allocated(parcel%samples)) allocate (parcel%samples(0))
    if (.not. allocated(parcel%text)) parcel%text = ''
  end subroutine ParcelEmpty

end module parcel_m
