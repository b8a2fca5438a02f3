!> The parameters of modelling with spectral elements, and the rules that only it has.
module elements3d_parameters_m
  use kinds_m, only: dp
  use mesh_doubling_m, only: DoublingRead
  use mesh_ground_m, only: ground_words
  use mesh_stack_m, only: layers_box_t
  use model_rules_m, only: ModelRules
  use parameter_table_m, only: table_t
  use parameters_m, only: ClusterTable, DispersionTable, FilesTable, job_t, SnapshotTable, TimeTable, VariantTable, &
                          VolumeFormatTable, VolumeTable, WaveletTable
  use picture_rules_m, only: PictureRules
  use problems_m, only: ProblemAdd
  use source3d_parameters_m, only: source3d_kinds, SourceRules, SourceTable
  implicit none
  private
  public :: Elements3dTable, Elements3dRules, elements3d_components

  character(*), parameter :: elements3d_components = &
    'vx,vy,vz,ux,uy,uz,ax,ay,az,p,sxx,syy,szz,sxy,sxz,syz,exx,eyy,ezz,exy,exz,eyz,wx,wy,wz'

contains

  subroutine Elements3dTable(t, job)
    type(table_t), intent(inout) :: t
    type(job_t), intent(inout) :: job
    job%axes = .true.
    ! @format(off)
    call FilesTable(t, job)
    call t%section('Model')
    call t%file('mesh', job%mesh, '', 'mesh of hexahedra: Exodus II, HEX8 or HEX27 (spl-mesh makes it from Gmsh, SPECFEM, Abaqus, VTK, ...); or the word layers: a box is meshed here, see layers', word='layers')
    call t%word('mesh_z', job%mesh_z, 'up', 'up,down', 'where z of the mesh points; up: depth z of sources and receivers is -z of the mesh')
    call t%file('materials', job%materials, '', 'media of the blocks of the mesh: a text, a line a block: its name or number, vp, vs [m/s] (0 = fluid), rho [kg/m3] and, where it attenuates, Qp, Qs (any number where vs = 0), or the word volume; anisotropic ones: cij rho c11 c12 .. c66 [Pa] (axes of the mesh), vti vp vs rho epsilon delta gamma, or tti .. gamma tilt azimuth; * = all other blocks; empty: all by volumes, which mesh=layers does not take')
    call t%text('ocean_load', job%ocean_load, '', 'weight of an ocean on free sides of solid that look up, without waves in it, right for waves of sound in water much longer than its depth: topography (the sea reaches up to z = 0), or its depth [m]: a number, a formula of x and y or a grid, as upper sides of layers; empty = none')
    call t%real('ocean_rho', job%ocean_rho, 1025.0_dp, 1.0_dp, 3000.0_dp, 'kg/m3', 'density of the water of ocean_load')
    call VolumeTable(t, job)
    call t%flag('attenuation', job%attenuation, .true., 'n leaves attenuation out, whatever the materials say')
    call t%real('qs_vs', job%qs_vs, 0.0_dp, 0.0_dp, 10.0_dp, 's/m', 'Qs = qs_vs*vs where volumes tell vs and no file tells Qs; 0 = no attenuation')
    call t%real('qp_qs', job%qp_qs, 2.0_dp, 0.1_dp, 100.0_dp, '', 'Qp = qp_qs*Qs where volumes tell Qs and no file tells Qp')
    call t%real('q_f1', job%q_f1, 0.0_dp, 0.0_dp, 1.0e6_dp, 'Hz', 'Q is constant from here; 0 = from a fiftieth of q_f2')
    call t%real('q_f2', job%q_f2, 0.0_dp, 0.0_dp, 1.0e6_dp, 'Hz', 'to here; 0 = fmax')
    call t%real('q_ref', job%q_ref, 0.0_dp, 0.0_dp, 1.0e6_dp, 'Hz', 'the velocities of the materials are phase velocities at this frequency; 0 = middle of the band, on a logarithmic scale')
    call t%word('memory_variables', job%memory_variables, 'auto', 'auto,coarse,all', 'points of an element that have the memory variables of attenuation: coarse, 57 of the 125, with which waves of 2.9 elements and of Q from 20 on differ by at most 1 % after 50 wavelengths, or all; auto = all where a Q of the mesh is below 25')
    call LayersTable(t, job)
    call VolumeFormatTable(t, job)
    call TimeTable(t, job)
    call t%section('Source and receivers')
    call SourceTable(t, job, source3d_kinds, 90.0_dp, 'y points 90 degrees less (mesh_z=down: 90 degrees more): 90 = x east, y north')
    call WaveletTable(t, job, 'ricker,ormsby,ormsby-rounded,gauss,file', 'history of the source: volume injection rate, moment rate or force', '', 'the wavelet is multiplied by this; with source=volume that is m3/s')
    call t%text('components', job%components, 'vx,vy,vz', 'recorded, joined by commas: velocities vx, vy, vz, displacements ux .. uz, accelerations ax .. az, pressure p, stresses sxx .. syz, rates of strain exx .. eyz and of rotation wx, wy, wz')
    call t%word('source_z', job%source_z, 'level', ground_words, 'what depths of sources count from: z = 0, the surface of the mesh above them, or the uppermost solid there, sea floor or ground')
    call t%word('receiver_z', job%receiver_z, 'level', ground_words, 'what depths of receivers count from')
    call t%section('Scheme')
    call t%word('positions', job%positions, 'exact', 'exact,element', 'sources and receivers act and read at the points around them by weights that are best for waves up to fmax, or by the polynomials of the one element that they lie in, as other programs do')
    call t%real('sponge', job%sponge, 0.0_dp, 0.0_dp, 1.0e6_dp, 'm', 'width of a layer that damps waves before sides that absorb, inside of the mesh: 4 wavelengths of P waves send back less than -50 dB of their energy at angles up to 60 degrees, 2 about -30 dB; keep sources and receivers out of it; 0 = none')
    call VariantTable(t, job)
    call t%word('sum', job%sum, 'gather', 'gather,colour,atomic', 'how the variants global, shared and texture add forces of elements at the points that these share: kept, then added by point; colour after colour; as they come, with other bits each time. cpu and tuned add bricks of elements in their order')
    call DispersionTable(t, job)
    call SnapshotTable(t, job, 'pictures of the fields every so often, to the nearest time step; 0 = none')
    call t%real('snapshot_dx', job%snapshot_dx, 0.0_dp, 0.0_dp, 1.0e6_dp, 'm', 'spacing of the points of planes and maps, which are at whole multiples of it; 0 = half the longest edge of an element or less')
    call t%text('snapshot_planes', job%snapshot_planes, 'top', 'pictures, joined by commas: top (the uppermost points of the mesh), x, y or z and a place [m] as in top,y1500,z20, planes of regular points; surface, volume: all points of the free sides or of all elements (spl-export makes VTU of them)')
    call t%text('snapshot_fields', job%snapshot_fields, 'vz', 'fields of pictures, joined by commas: vx, vy, vz, ux, uy, uz, p')
    call t%flag('pgv', job%pgv, .false., 'maps of the largest horizontal and vertical velocity and vector on the top')
    call t%real('pgv_depth', job%pgv_depth, -1.0e6_dp, -1.0e6_dp, 1.0e6_dp, 'm', 'depth of a plane that the maps are of in place of the top; -1e6: the top')
    call ClusterTable(t, job, 'ranks that share one shot, a piece of the mesh each; auto = as few as hold it')
    call t%word('halo', job%halo, 'auto', 'auto,ipc,mpi,host', 'how what pieces of a mesh give each other travels: from GPU to GPU (CUDA IPC), as MPI messages (of GPU memory where the MPI takes that), or through memory of the host that ranks of a machine share; auto = from GPU to GPU where that can be and is faster, else as host')
    call t%real('gpu_memory', job%gpu_memory, 0.0_dp, 0.0_dp, 1.0e6_dp, 'GB', 'memory of its GPU that a rank may take; 0 = what is free')
    call t%word('resident', job%resident, 'auto', 'auto,all,fields', 'what stays on the GPU: all, or only the fields, while geometry, medium and memory variables of elements come from the host in each step, and memory variables go back; auto: of as many elements as there is room for they stay. With variant=tuned; the others need all')
    ! @format(on)
  end subroutine Elements3dTable

  !> The own mesher.
  subroutine LayersTable(t, job)
    type(table_t), intent(inout) :: t
    type(job_t), intent(inout) :: job
    ! @format(off)
    call t%section('Mesh of layers')
    call t%file('layers', job%layers, '', 'mesh=layers: a text, a line a layer from the top: its name, which is that of its block; its upper side, a depth [m], a formula of x and y, as 120-80*exp(-(x^2+y^2)/500^2), or a grid: NetCDF, or a text with x, y and depth a line; up: before it means heights; and, where not by velocity, the height of its elements [m]')
    call t%real('mesh_x0', job%mesh_x(1), 0.0_dp, -1.0e7_dp, 1.0e7_dp, 'm', 'the box begins here along x')
    call t%real('mesh_x1', job%mesh_x(2), 0.0_dp, -1.0e7_dp, 1.0e7_dp, 'm', 'and ends here')
    call t%real('mesh_y0', job%mesh_y(1), 0.0_dp, -1.0e7_dp, 1.0e7_dp, 'm', 'it begins here along y')
    call t%real('mesh_y1', job%mesh_y(2), 0.0_dp, -1.0e7_dp, 1.0e7_dp, 'm', 'and ends here')
    call t%real('mesh_bottom', job%mesh_bottom, 0.0_dp, -1.0e7_dp, 1.0e7_dp, 'm', 'depth of its lower side')
    call t%real('mesh_dx', job%mesh_d(1), 0.0_dp, 0.0_dp, 1.0e6_dp, 'm', 'elements are at most so wide along x; 0 = by velocity')
    call t%real('mesh_dy', job%mesh_d(2), 0.0_dp, 0.0_dp, 1.0e6_dp, 'm', 'along y; 0 = by velocity')
    call t%real('mesh_dz', job%mesh_d(3), 0.0_dp, 0.0_dp, 1.0e6_dp, 'm', 'and so high, where layers does not tell; 0 = by velocity')
    call t%real('mesh_per_wave', job%mesh_per_wave, 1.25_dp, 0.7_dp, 20.0_dp, 'elements', 'by velocity: so many to the shortest wavelength, at fmax, of each layer, and across of the slowest')
    call t%real('mesh_thinnest', job%mesh_thinnest, 0.4_dp, 0.02_dp, 1.0_dp, '', 'elements are at least this part as high as where their layer is thickest; where a layer is thinner, or ends, they have the medium that is in their middle')
    call t%text('mesh_doubling', job%mesh_doubling, 'none', 'doubling layers, below which elements are twice as wide along x and y, two of them four times, three eight times: none; auto = at the uppermost layer from which on velocities allow it, and as many as make shots faster, elements and time step counted; or their depths [m], joined by commas. Each lies in a layer that is everywhere at least half as thick as where it is thickest; columns of elements are made so many that they can be halved')
    call t%int('mesh_nodes', job%mesh_nodes, 8, 8, 27, '', 'nodes of an element: 8, or 27, whose sides are curved as the surfaces')
    call t%output('mesh_out', job%mesh_out, 'mesh.exo', 'the verb mesh writes the mesh here, Exodus II')
    ! @format(on)
  end subroutine LayersTable

  !> Adds to the table's problems what is wrong with parameters together. `verb`: run, plan, status or verify.
  subroutine Elements3dRules(job, verb, t)
    type(job_t), intent(in) :: job
    character(*), intent(in) :: verb
    type(table_t), intent(inout) :: t
    if ((verb == 'run' .or. verb == 'plan' .or. verb == 'mesh') .and. .not. t%deck%unread) then
      if (job%mesh == '') call ProblemAdd(t%deck%problems, 'no mesh is given: give mesh=FILE, an Exodus II file of hexahedra, '// &
                                          'or mesh=layers and layers=FILE')
      if (job%materials == '' .and. job%mesh == 'layers') then
        call ProblemAdd(t%deck%problems, 'no materials are given: give materials=FILE, a table of the media of layers, from which '// &
                        'mesh=layers takes their velocities, not from volumes')
      else if (job%materials == '' .and. job%vp == '') then
        call ProblemAdd(t%deck%problems, 'no materials are given: give materials=FILE, a table of the media of the mesh''s '// &
                        'blocks, or vp=FILE, vs=FILE, rho=FILE, volumes of the earth')
      end if
    end if
    call ModelRules(job, 'xyz', verb /= 'status', t)
    if (job%materials /= '' .and. job%vp == '') call t%idle('vs,rho,qp,qs,vp_vs,rho_rule,rho_value,qs_vs,qp_qs', &
      'it is of volumes, of which there is no vp=FILE: leave it out')
    if (t%sound('group,gpn') .and. job%group > 1 .and. job%gpn > 0) then
      if (t%sound('resident') .and. job%resident == 'fields') &
        call t%blame('resident', 'must be all or auto where group > 1: all of a piece of a mesh stays on its GPU')
      if (t%sound('sum,variant') .and. job%sum == 'atomic' .and. index('texture shared global', job%variant) > 0) &
        call t%blame('sum', 'must be gather or colour where group > 1: pieces of a mesh have no atomic sums')
    end if
    if (t%sound('q_f1,q_f2') .and. job%q_f1 > 0 .and. job%q_f2 > 0 .and. job%q_f2 < 2*job%q_f1) &
      call t%blame('q_f2', 'is less than twice '//t%said('q_f1')//': the band of constant Q must be wider')
    if (t%sound('resident,variant') .and. job%resident == 'fields' .and. index('texture shared global', job%variant) > 0) &
      call t%blame('resident', 'needs variant=tuned: '//t%said('variant')//' keeps all of a mesh on the GPU')
    if (job%ocean_load == '') call t%idle('ocean_rho', 'give ocean_load too')
    call LayersRules(job, t)
    call SourceRules(job, t)
    call PictureRules(job, 'top, surface, volume', 'vx, vy, vz, ux, uy, uz, p', t)
  end subroutine Elements3dRules

  subroutine LayersRules(job, t)
    type(job_t), intent(in) :: job
    type(table_t), intent(inout) :: t
    type(layers_box_t) :: box
    character(:), allocatable :: why
    if (job%mesh /= 'layers') then
      call t%idle('layers,mesh_x0,mesh_x1,mesh_y0,mesh_y1,mesh_bottom,mesh_dx,mesh_dy,mesh_dz,mesh_per_wave,mesh_thinnest,mesh_doubling,mesh_nodes', &
                  'it is of mesh=layers')
      return
    end if
    if (job%layers == '' .and. .not. t%deck%unread) &
      call t%blame('mesh', 'needs the layers: give layers=FILE, a line a layer with its name and upper side')
    if (t%sound('mesh_x0,mesh_x1') .and. .not. job%mesh_x(2) > job%mesh_x(1)) &
      call t%blame('mesh_x1', 'must be beyond '//t%said('mesh_x0')//': the box of mesh=layers')
    if (t%sound('mesh_y0,mesh_y1') .and. .not. job%mesh_y(2) > job%mesh_y(1)) &
      call t%blame('mesh_y1', 'must be beyond '//t%said('mesh_y0')//': the box of mesh=layers')
    call DoublingRead(job%mesh_doubling, box, why)
    if (why /= '') call t%blame('mesh_doubling', why)
    if (t%sound('mesh_nodes') .and. job%mesh_nodes /= 8 .and. job%mesh_nodes /= 27) call t%blame('mesh_nodes', 'must be 8 or 27')
  end subroutine LayersRules

end module elements3d_parameters_m
