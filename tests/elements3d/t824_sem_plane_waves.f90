!> Plane waves through a column of distorted spectral elements whose opposite walls are one: P, S and sound leave through an
!> absorbing end with less than 1 % sent back (40 dB), and keep their shape before; at a sea floor pressure and displacement come
!> back and go on as impedances tell.
program t824_sem_plane_waves
  use check_m, only: Claim, Done, Seed
  use elements_m, only: elements_t, face_absorbs
  use error_m, only: error_t
  use kinds_m, only: dp, sp
  use sem3d_engine_m, only: field_chi, field_chi_t, field_ux, field_uz, field_vx, field_vz, sem3d_engine_t
  use semcase_m, only: periodic, semcase_t, SemBox, SemEngine, SemFine, SemPlaces
  use text_m, only: Str
  implicit none

  integer, parameter :: side(6) = [periodic, periodic, periodic, periodic, face_absorbs, face_absorbs]
  real(dp), parameter :: dt = 2e-3_dp, width = 1100, height = 9000        ! of a pulse, of the column [m]
  type(semcase_t) :: c
  type(elements_t) :: mesh
  real(dp), allocatable :: x(:, :)

  call Seed(824)
  c = semcase_t(n=[3, 3, 24], size=[1100.0_dp, 1100.0_dp, height], shake=0.15_dp, turn=.true., side=side, brick=3)
  call SemBox(c, mesh)
  call SemPlaces(mesh, x)
  call Leaves('P', c%vp, field_uz, field_vz)
  call Leaves('S', c%vs, field_ux, field_vx)
  c%water = c%n(3)
  call SemBox(c, mesh)
  call SemPlaces(mesh, x)
  call Leaves('sound', c%vp_water, field_chi, field_chi_t)
  c%water = 16
  c%shake = 0                                                            ! an even sea floor
  call SemBox(c, mesh)
  call SemPlaces(mesh, x)
  call SeaFloor()
  deallocate (x)
  call Done()

contains

  !> A pulse around 0, and its derivative.
  elemental real(dp) function Pulse(z)
    real(dp), intent(in) :: z
    Pulse = exp(-(3*z/width)**2)
  end function Pulse

  elemental real(dp) function Slope(z)
    real(dp), intent(in) :: z
    Slope = -18*z/width**2*Pulse(z)
  end function Slope

  !> Sets u and v of points `of` as a pulse that goes down from depth z0 at time 0 with speed s.
  subroutine Start(engine, u, v, z, z0, s)
    class(sem3d_engine_t), intent(inout) :: engine
    integer, intent(in) :: u, v
    real(dp), intent(in) :: z(:), z0, s
    type(error_t), allocatable :: error
    call engine%set_field(u, real(Pulse(z - z0), sp), error)
    call engine%set_field(v, real(-s*Slope(z - z0 + s*dt/2), sp), error)
    call SemFine(error, 'fields')
  end subroutine Start

  subroutine Leaves(what, s, u, v)
    character(*), intent(in) :: what
    real(dp), intent(in) :: s
    integer, intent(in) :: u, v
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    real(sp), allocatable :: got(:), rest(:)
    real(dp) :: apart, back
    integer :: there, gone
    call SemEngine('cpu', mesh, dt, 1, engine)
    call Start(engine, u, v, x(3, :), height/4, s)
    there = nint(height/2/(s*dt))
    gone = nint((height - height/4 + 2*width)/(s*dt))
    allocate (got(mesh%points), rest(mesh%points))
    call engine%timestep(1, there, error)
    call engine%field(u, got, error)
    apart = norm2(got - Pulse(x(3, :) - height/4 - s*there*dt))/norm2(got)
    call engine%timestep(there + 1, gone - there, error)
    call engine%field(v, rest, error)
    call SemFine(error, 'steps')
    back = maxval(abs(rest))/(s*maxval(abs(Slope(x(3, :) - height/2))))
    call Claim(apart <= 0.01_dp, what//' keeps its shape over '//Str(height/2/width)//' widths of a pulse to '//Str(apart)// &
               ' rms, bound 0.01')
    call Claim(back <= 0.01_dp, what//': an absorbing end sends back '// &
               Str(back)//' of a wave that meets it upright, bound 0.01')
    call engine%free()
  end subroutine Leaves

  !> chi = g(z - ct) comes down. p = -d2chi/dt2 comes back R = (Z - z)/(Z + z) of it, so does chi; u goes on 2 z/(Z + z) of it.
  subroutine SeaFloor()
    class(sem3d_engine_t), allocatable :: engine
    type(error_t), allocatable :: error
    real(sp), allocatable :: up(:), down(:)
    real(dp) :: floor, z0, t, rock, sea, apart(2)
    real(dp), allocatable :: exact(:)
    integer :: n
    n = mesh%solid_points
    floor = height*c%water/c%n(3)
    z0 = floor - 2*width
    rock = c%rho*c%vp
    sea = c%rho_water*c%vp_water
    call SemEngine('cpu', mesh, dt, 1, engine)
    call Start(engine, field_chi, field_chi_t, x(3, n + 1:), z0, c%vp_water)
    t = nint((floor - z0 + 1.2_dp*width)/c%vp_water/dt)*dt
    call engine%timestep(1, nint(t/dt), error)
    allocate (up(mesh%points - n), down(n))
    call engine%field(field_chi, up, error)
    call engine%field(field_uz, down, error)
    call SemFine(error, 'steps')
    exact = (rock - sea)/(rock + sea)*Pulse(2*floor - x(3, n + 1:) - z0 - c%vp_water*t)
    apart(1) = norm2(up - exact)/norm2(exact)
    exact = 2*sea/(rock + sea)/c%rho_water*Slope((x(3, :n) - floor)*c%vp_water/c%vp + floor - z0 - c%vp_water*t)
    apart(2) = norm2(down - exact)/norm2(exact)
    call Claim(apart(1) <= 0.01_dp, 'sound that a sea floor sends back ('//Str((rock - sea)/(rock + sea))//') is wrong by '// &
               Str(apart(1))//' rms, bound 0.01')
    call Claim(apart(2) <= 0.01_dp, 'displacement of the rock ('//Str(2*sea/(rock + sea))//') is wrong by '//Str(apart(2))// &
               ' rms, bound 0.01')
    call engine%free()
  end subroutine SeaFloor

end program t824_sem_plane_waves
