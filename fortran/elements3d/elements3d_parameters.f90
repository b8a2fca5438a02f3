!> The parameters of modelling with spectral elements, and the rules that only it has.
module elements3d_parameters_m
  use kinds_m, only: dp
  use model_rules_m, only: ModelRules
  use parameter_table_m, only: table_t
  use parameters_m, only: ClusterTable, DispersionTable, FilesTable, job_t, TimeTable, VariantTable, &
                          VolumeFormatTable, VolumeTable, WaveletTable
  use problems_m, only: ProblemAdd
  use source3d_parameters_m, only: source3d_kinds, SourceRules, SourceTable
  implicit none
  private
  public :: Elements3dTable, Elements3dRules, elements3d_components

  character(*), parameter :: elements3d_components = 'vx,vy,vz,ux,uy,uz,ax,ay,az,p,sxx,syy,szz,sxy,sxz,syz,exx,eyy,ezz,exy,exz,eyz'

contains

  subroutine Elements3dTable(t, job)
    type(table_t), intent(inout) :: t
    type(job_t), intent(inout) :: job
    job%axes = .true.
    ! @format(off)
    call FilesTable(t, job)
    call t%section('Model')
    call t%file('mesh', job%mesh, '', 'mesh of hexahedra: Exodus II, HEX8 or HEX27 (spl-mesh makes it from Gmsh, SPECFEM, Abaqus, VTK, ...)')
    call t%word('mesh_z', job%mesh_z, 'up', 'up,down', 'where z of the mesh points; up: depth z of sources and receivers is -z of the mesh')
    call t%file('materials', job%materials, '', 'media of the blocks of the mesh: a text, a line a block: its name or number, vp, vs [m/s] (0 = fluid), rho [kg/m3] and, where it attenuates, Qp, Qs, or the word volume; * = all other blocks; empty: all by volumes')
    call VolumeTable(t, job)
    call t%flag('attenuation', job%attenuation, .true., 'n leaves attenuation out, whatever the materials say')
    call t%real('qs_vs', job%qs_vs, 0.0_dp, 0.0_dp, 10.0_dp, 's/m', 'Qs = qs_vs*vs where volumes tell vs and no file tells Qs; 0 = no attenuation')
    call t%real('qp_qs', job%qp_qs, 2.0_dp, 0.1_dp, 100.0_dp, '', 'Qp = qp_qs*Qs where volumes tell Qs and no file tells Qp')
    call t%real('q_f1', job%q_f1, 0.0_dp, 0.0_dp, 1.0e6_dp, 'Hz', 'Q is constant from here; 0 = from a fiftieth of q_f2')
    call t%real('q_f2', job%q_f2, 0.0_dp, 0.0_dp, 1.0e6_dp, 'Hz', 'to here; 0 = fmax')
    call t%real('q_ref', job%q_ref, 0.0_dp, 0.0_dp, 1.0e6_dp, 'Hz', 'the velocities of the materials are phase velocities at this frequency; 0 = middle of the band, on a logarithmic scale')
    call t%word('memory_variables', job%memory_variables, 'coarse', 'coarse,all', 'points of an element that have the memory variables of attenuation: 57 of the 125, with which waves are the same to 1 % after 50 wavelengths, or all')
    call VolumeFormatTable(t, job)
    call TimeTable(t, job)
    call t%section('Source and receivers')
    call SourceTable(t, job, source3d_kinds, 90.0_dp, 'y points 90 degrees less (mesh_z=down: 90 degrees more): 90 = x east, y north')
    call WaveletTable(t, job, 'ricker,ormsby,gauss,file', 'history of the source: volume injection rate, moment rate or force', '', 'the wavelet is multiplied by this; with source=volume that is m3/s')
    call t%text('components', job%components, 'vx,vy,vz', 'recorded, joined by commas: velocities vx, vy, vz, displacements ux .. uz, accelerations ax .. az, pressure p, stresses sxx .. syz, rates of strain exx .. eyz')
    call t%section('Scheme')
    call t%word('positions', job%positions, 'exact', 'exact,element', 'sources and receivers act and read at the points around them by weights that are best for waves up to fmax, or by the polynomials of the one element that they lie in, as other programs do')
    call t%real('sponge', job%sponge, 0.0_dp, 0.0_dp, 1.0e6_dp, 'm', 'width of a layer that damps waves before sides that absorb, inside of the mesh: 4 wavelengths of P waves send back less than -50 dB of their energy at angles up to 60 degrees, 2 about -30 dB; keep sources and receivers out of it; 0 = none')
    call VariantTable(t, job)
    call DispersionTable(t, job)
    call ClusterTable(t, job, 'ranks that share one shot; so far 1')
    ! @format(on)
  end subroutine Elements3dTable

  !> Adds to the table's problems what is wrong with parameters together. `verb`: run, plan, status or verify.
  subroutine Elements3dRules(job, verb, t)
    type(job_t), intent(in) :: job
    character(*), intent(in) :: verb
    type(table_t), intent(inout) :: t
    if ((verb == 'run' .or. verb == 'plan') .and. .not. t%deck%unread) then
      if (job%mesh == '') call ProblemAdd(t%deck%problems, 'no mesh is given: give mesh=FILE, an Exodus II file of hexahedra')
      if (job%materials == '' .and. job%vp == '') &
        call ProblemAdd(t%deck%problems, 'no materials are given: give materials=FILE, a table of the media of the mesh''s '// &
                        'blocks, or vp=FILE, vs=FILE, rho=FILE, volumes of the earth')
    end if
    call ModelRules(job, 'xyz', verb /= 'status', t)
    if (t%sound('group') .and. job%group > 1) &
      call t%blame('group', 'must be 1: so far one rank models a shot of spectral elements')
    if (t%sound('q_f1,q_f2') .and. job%q_f1 > 0 .and. job%q_f2 > 0 .and. job%q_f2 < 2*job%q_f1) &
      call t%blame('q_f2', 'is less than twice '//t%said('q_f1')//': the band of constant Q must be wider')
    call SourceRules(job, t)
  end subroutine Elements3dRules

end module elements3d_parameters_m
