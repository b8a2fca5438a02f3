!> The parameters of 3D elastic modelling, and the rules that only it has.
module elastic3d_parameters_m
  use kinds_m, only: dp
  use model_rules_m, only: ModelRules
  use parameter_table_m, only: table_t
  use parameters_m, only: ClusterTable, DispersionTable, FilesTable, GridTable, job_t, SnapshotTable, TimeTable, VariantTable, &
                          VolumeFormatTable, VolumeTable, WaveletTable, WeightsTable
  use picture_rules_m, only: PictureRules
  use problems_m, only: ProblemAdd
  use source3d_parameters_m, only: source3d_kinds, SourceRules, SourceTable
  use text_m, only: Str
  implicit none
  private
  public :: Elastic3dTable, Elastic3dRules, Elastic3dPieces, elastic3d_components

  character(*), parameter :: elastic3d_components = 'vx,vy,vz,p,sxx,syy,szz,sxy,sxz,syz,exx,eyy,ezz,exy,exz,eyz,wx,wy,wz'

contains

  subroutine Elastic3dTable(t, job)
    type(table_t), intent(inout) :: t
    type(job_t), intent(inout) :: job
    job%axes = .true.
    ! @format(off)
    call FilesTable(t, job)
    call ModelTable(t, job)
    call GridTable(t, job, 'model window: this far beyond the outermost of source and receivers in x and y; -1 = whole model for each shot')
    call TimeTable(t, job)
    call t%section('Source and receivers')
    call SourceTable(t, job, source3d_kinds//',fault', 0.0_dp, 'y points 90 degrees further: 0 = x north, y east')
    call WaveletTable(t, job, 'ricker,ormsby,ormsby-rounded,gauss,file', 'history of the source: volume injection rate, moment rate or force', '', 'the wavelet is multiplied by this; with source=volume that is m3/s')
    call t%text('components', job%components, 'vx,vy,vz', 'recorded, joined by commas: velocities vx, vy, vz, pressure p, stresses sxx .. syz, rates of strain exx .. eyz and of rotation wx, wy, wz')
    call WeightsTable(t, job, 2, 4, 'taylor', 'free')
    call t%word('absorb', job%absorb, 'auto', 'auto,pml,damped,sponge', 'kind of the absorbing layers: convolutional PML; damped, PML that damps along the layer too, for soft ground beside hard rock, whose waves grow in the first; the sponge of Cerjan et al.; auto = damped where the fastest wave is over 5 times as fast as the slowest, the model is not one rock and the record has over 1500 steps, else pml')
    call t%word('layer_differences', job%layer_differences, 'full', 'full,narrow,auto', 'differences along layers of absorb=pml at the four sides, within them: full, as elsewhere, which let slow waves grow at a sea floor with steps; narrow, of half-length 1, which send back more of grazing waves; auto = narrow where the sea floor has steps')
    call t%word('sides', job%sides, 'absorb', 'absorb,periodic', 'the four sides: absorbing layers, or each followed by the one opposite')
    call t%word('bottom', job%bottom, 'absorb', 'absorb,one-way', 'the bottom: absorbing layer, or the one-way condition of Clayton & Engquist')
    call VariantTable(t, job)
    call DispersionTable(t, job)
    call SnapshotTable(t, job, 'planes of the fields every so often, to the nearest time step; 0 = none', 'every so many cells')
    call t%text('snapshot_planes', job%snapshot_planes, 'top', 'planes, joined by commas: top (the upper faces of the uppermost cells that are not air), or x, y or z and a place [m], as in top,y1500,z-20')
    call t%text('snapshot_fields', job%snapshot_fields, 'vz', 'fields on the planes, joined by commas: vx, vy, vz, p')
    call t%flag('pgv', job%pgv, .false., 'maps of the largest horizontal and vertical velocity and vector that a station on the top, or the ground below the air, would record')
    call t%real('pgv_depth', job%pgv_depth, -1.0e6_dp, -1.0e6_dp, 1.0e6_dp, 'm', 'depth of a plane that the map is of in place of the ground; less than the top: the ground')
    call ClusterTable(t, job, 'ranks that share one shot, each with a piece of its grid; auto = as few as hold the largest shot, by the memory of GPUs or machines')
    call t%text('decomposition', job%decomposition, 'auto', 'pieces of a shot along x, y and z, one for each rank of a group, as 2x1x2; auto = as is expected to be fastest')
    call t%word('halo', job%halo, 'auto', 'auto,ipc,mpi,host', 'how what pieces of a shot give each other travels: from GPU to GPU (CUDA IPC), as MPI messages (of GPU memory where the MPI takes that), or through memory of the host that ranks of a machine share; auto = from GPU to GPU where that can be and is faster, else as host')
    call t%word('halo_wide', job%halo_wide, 'auto', 'auto,y,n', 'y: pieces of a shot give each other velocities alone, twice as deep, once a step, and both compute the stresses beside their plane; n: velocities and stresses, each half step. That saves a wait a step where one axis is cut, not bytes; periodic axes are not cut then; not for halo=ipc. auto = y where a message takes longer than two thirds of a step of a piece')
    ! @format(on)
  end subroutine Elastic3dTable

  !> The earth of a 3D job.
  subroutine ModelTable(t, job)
    type(table_t), intent(inout) :: t
    type(job_t), intent(inout) :: job
    ! @format(off)
    call t%section('Model')
    call t%file('layers', job%layers, '', 'flat layers instead of volumes: a text, a line a layer from the top: depth of its upper side [m], vp, vs [m/s], rho [kg/m3] and, where it attenuates, Qp, Qs (where vs = 0: Qp 0 for none, Qs any number); give dx, aperture and depth too')
    call VolumeTable(t, job)
    call t%flag('attenuation', job%attenuation, .true., 'n leaves attenuation out, whatever the model says')
    call t%real('qs_vs', job%qs_vs, 0.0_dp, 0.0_dp, 10.0_dp, 's/m', 'Qs = qs_vs*vs where no file tells Qs, layers neither; 0 = no attenuation')
    call t%real('qp_qs', job%qp_qs, 2.0_dp, 0.1_dp, 100.0_dp, '', 'Qp = qp_qs*Qs where no file tells Qp; none in fluids')
    call t%real('q_f1', job%q_f1, 0.0_dp, 0.0_dp, 1.0e6_dp, 'Hz', 'Q is constant from here; 0 = from a fiftieth of q_f2')
    call t%real('q_f2', job%q_f2, 0.0_dp, 0.0_dp, 1.0e6_dp, 'Hz', 'to here; 0 = fmax')
    call t%real('q_ref', job%q_ref, 0.0_dp, 0.0_dp, 1.0e6_dp, 'Hz', 'the velocities of the model are phase velocities at this frequency; 0 = middle of the band, on a logarithmic scale')
    call t%word('memory_variables', job%memory_variables, 'auto', 'auto,coarse,all,coarse2001', 'memory variables of attenuation: coarse, of one of 8 mechanisms a cell, with which waves differ by direction by 0.6 % (Q = 40) and 2 % (Q = 20) after 10 wavelengths; all, of 6 mechanisms in each cell, in 2.5 times the memory; auto = all where a Q of the model is below 25; coarse2001, the former coarse, with which they differ by 5 % and 16 %')
    call VolumeFormatTable(t, job)
    call t%word('regrid', job%regrid, 'average', 'average,nearest', 'model to grid: average (mean density and compliance of the cell) or nearest sample')
    ! @format(on)
  end subroutine ModelTable

  !> Adds to the table's problems what is wrong with parameters together. `verb`: run, plan, status or verify.
  subroutine Elastic3dRules(job, verb, t)
    type(job_t), intent(in) :: job
    character(*), intent(in) :: verb
    type(table_t), intent(inout) :: t
    if ((verb == 'run' .or. verb == 'plan') .and. job%vp == '' .and. job%layers == '' .and. .not. t%deck%unread) &
      call ProblemAdd(t%deck%problems, &
                      'neither vp nor layers is given: give vp=FILE, volumes of the earth, or layers=FILE, flat layers')
    call ModelRules(job, 'xyz', verb /= 'status', t)
    call SourceRules(job, t)
    call CheckMedium(job, t)
    call PictureRules(job, 'top', 'vx, vy, vz, p', t)
    if (t%sound('decomposition')) call CheckDecomposition(job, t)
    if (t%sound('group,halo_wide') .and. job%group == 1 .and. .not. t%given('group')) &
      call t%idle('halo_wide', 'each shot has one rank: leave it out, or give group too')
    if (t%sound('halo,halo_wide') .and. job%halo == 'ipc' .and. job%halo_wide == 'y') &
      call t%blame('halo_wide', '= y cannot be with halo = ipc, as kernels that store into each other''s memory have narrow '// &
                   'halos: leave one of them out')
  end subroutine Elastic3dRules

  !> Blames pieces that are none, or not as many as there are ranks for.
  subroutine CheckDecomposition(job, t)
    type(job_t), intent(in) :: job
    type(table_t), intent(inout) :: t
    integer :: parts(3)
    call Elastic3dPieces(job%decomposition, parts)
    if (any(parts < 0)) then
      call t%blame('decomposition', 'is none: give auto, or the pieces along x, y and z, as 2x1x2')
    else if (all(parts > 0) .and. job%group == 0) then
      call t%blame('decomposition', 'makes '//Str(product(parts))//' pieces, but group = auto finds their number: give '// &
                   'group='//Str(product(parts)))
    else if (all(parts > 0) .and. product(parts) /= job%group) then
      call t%blame('decomposition', 'makes '//Str(product(parts))//' pieces for group = '//Str(job%group)// &
                   ' ranks: they must be as many')
    end if
  end subroutine CheckDecomposition

  !> Pieces along x, y, z: '2x1x2'; 0 for auto, -1 for anything else.
  pure subroutine Elastic3dPieces(text, parts)
    character(*), intent(in) :: text
    integer, intent(out) :: parts(3)
    integer :: a, x, from, fault
    parts = 0
    if (text == 'auto') return
    parts = -1
    from = 1
    if (count([(text(x:x) == 'x', x=1, len(text))]) /= 2 .or. verify(text, '0123456789x') > 0) return
    do a = 1, 3
      x = index(text(from:)//'x', 'x')
      if (x < 2 .or. x > 5) then
        parts = -1
        return
      end if
      read (text(from:from + x - 2), *, iostat=fault) parts(a)
      if (fault /= 0 .or. parts(a) < 1) parts(a) = -1
      from = from + x
    end do
  end subroutine Elastic3dPieces

  !> Blames parameters of the medium that do not go together.
  subroutine CheckMedium(job, t)
    type(job_t), intent(in) :: job
    type(table_t), intent(inout) :: t
    if (t%sound('q_f1,q_f2') .and. job%q_f1 > 0 .and. job%q_f2 > 0 .and. job%q_f2 < 2*job%q_f1) &
      call t%blame('q_f2', 'is less than twice '//t%said('q_f1')//': the band of constant Q must be wider')
    if (job%layers /= '' .and. job%vp /= '') call t%blame('layers', 'stands beside volumes, '//t%said('vp')//': give one of them')
    if (t%sound('npml') .and. job%npml == 0) call t%idle('absorb', 'there are no layers that absorb: leave it out, or give npml too')
    if (job%absorb == 'sponge' .or. job%sides == 'periodic' .or. job%npml == 0) &
      call t%idle('layer_differences', 'the sides have no layers of absorb=pml: leave it out')
    if (job%layers /= '') call t%idle('vs,rho,qp,qs,vp_vs,rho_rule,rho_value', 'layers tell that: leave it out')
  end subroutine CheckMedium

end module elastic3d_parameters_m
