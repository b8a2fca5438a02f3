!> The mesh of a job and its media: read or made, checked, written by the verb mesh.
submodule(elements3d_m) elements3d_mesh
  use anisotropy_m, only: aniso_constants
  use checksum_c, only: checksum_floats
  use element_finder_m, only: FinderMake
  use elements_make_m, only: ElementsMake
  use elements_media_m, only: MediaFill, MediaPhases, MediaRead
  use elements_ocean_m, only: OceanOver
  use elements_sponge_m, only: SpongeDistances
  use elements_tensors_m, only: FastestIn, SlowestIn, TensorOf
  use error_m, only: AddContext, FailFromC
  use files_m, only: FileExists, FileSame
  use hash_m, only: hash_t, HashAdd, HashText
  use kinds_m, only: i8
  use log_m, only: LogInfo
  use materials_m, only: from_table, from_volume, material_bulk, material_fastest, material_parts, material_rho, material_shear, &
                         material_slowest, material_vp, material_vs, materials_t, MaterialsOf, MaterialsRead, MaterialsUnused
  use mesh_blocks_m, only: BlockRows, BlocksOf
  use mesh_check_m, only: MeshCheck
  use mesh_exodus_m, only: MeshRead
  use mesh_exodus_write_m, only: MeshWrite
  use mesh_ground_m, only: GroundMake
  use mesh_m, only: mesh_t
  use mesh_of_layers_m, only: MeshOfLayers
  use model3d_m, only: model3d_t
  use modelcheck_m, only: ModelCheck, ranges_t
  use path_c, only: path_output
  use text_m, only: Counted, CString
  implicit none

  integer, parameter :: many = 500000                !< elements that take some seconds until the first words on them

contains

  module procedure ReadMesh
    type(mesh_t) :: mesh
    type(materials_t) :: materials
    type(model3d_t) :: earth
    real(dp), allocatable :: part(:, :), relative(:, :)
    character(:), allocatable :: made
    integer, allocatable :: from(:)
    if (job%materials /= '') call MaterialsRead(job%materials, materials, error, job%mesh_z == 'up')
    if (.not. allocated(error)) call GetMesh(self, job, materials, mesh, made, error)
    if (allocated(error)) return
    if (size(mesh%block) > many) call LogInfo('mesh     '//made//', '//Str(size(mesh%block))// &
                                              ' elements: they are checked, get their media, and the time step is found')
    call MeshCheck(mesh, error, whole=.true.)
    if (allocated(error)) return
    call MediaOfBlocks(job, materials, mesh, part, relative, from, error)
    if (allocated(error)) return
    if (any(from /= from_table)) then
      call ReadVolumes(job, mesh, from, earth, error)
    else if (job%vp /= '') then
      call Fail(error, 'vp = '//job%vp//' has no effect: the table of materials '//job%materials//' has numbers for all '// &
        'blocks of the mesh: give those whose medium is in volumes the word volume there, or leave vp out')
    end if
    if (allocated(error)) return
    self%unused = ''
    self%lossy_fluids = ''
    if (job%materials /= '') then
      self%unused = MaterialsUnused(materials, mesh)
      if (job%attenuation) self%lossy_fluids = materials%lossy_fluids
    end if
    self%passive = 0
    if (.not. job%attenuation) part(material_bulk:material_shear, :) = 0
    if (all(from == from_table)) then
      call ElementsMake(mesh, part, self%elements, self%number, self%counts, relative=relative)
      self%rhomin = minval(part(material_rho, :))
      self%rhomax = maxval(part(material_rho, :))
      self%vmax = maxval(part(material_fastest, :))
      self%vmin = minval(part(material_slowest, :))
    else
      call MakeByPoint(self, mesh, part, relative, from, earth, error)
      if (allocated(error)) return
    end if
    self%doubts = ''
    if (any(from /= from_table)) self%doubts = earth%doubts
    call ModelCheck(job, Ranges(self, job, part, from, earth, maxval(mesh%x(3, :)) - minval(mesh%x(3, :))), self%doubts, error)
    if (allocated(error)) return
    self%least_q = maxval(self%elements%loss)
    self%attenuates = self%least_q > 0
    if (self%attenuates) self%least_q = 1/self%least_q
    if (job%ocean_load /= '') call OceanOver(self%elements, job%ocean_load, job%ocean_rho, error)
    if (allocated(error)) return
    call PreparePlaces(self, job)
    self%low = minval(mesh%x, 2)
    self%high = maxval(mesh%x, 2)
    self%skin = huge(self%skin)
    if (job%mesh == 'layers') self%skin = Skin(mesh)
    self%sources = made//', '//Counted(self%elements%n, 'element')//' of '//Str(mesh%per)//' nodes in '// &
                   Counted(size(mesh%blocks), 'block')
    if (job%materials /= '') self%sources = self%sources//'; materials '//job%materials
    if (any(from /= from_table)) self%sources = self%sources//'; '//earth%sources
    call BlocksOf(mesh, part, self%blocks)
    self%hash = Hash(self%elements)
    if (associated(self%cut)) deallocate (self%cut, self%shares)
    allocate (self%cut, self%shares)
  end procedure ReadMesh

  !> From the top of a mesh of layers down to where all but the lowest end [m], a large number where there is one alone.
  pure real(dp) function Skin(mesh)
    type(mesh_t), intent(in) :: mesh
    integer :: e
    Skin = huge(Skin)
    if (size(mesh%blocks) < 2) return
    Skin = 0
    do e = 1, size(mesh%block)
      if (mesh%block(e) < size(mesh%blocks)) Skin = max(Skin, maxval(mesh%x(3, mesh%node(:, e))))
    end do
    Skin = Skin - minval(mesh%x(3, :))
  end function Skin

  !> Numbers by which media of table and volumes are checked; bottom: of the mesh, below its top, as z may begin anywhere [m].
  pure type(ranges_t) function Ranges(self, job, part, from, earth, bottom)
    class(elements3d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    real(dp), intent(in) :: part(:, :), bottom
    integer, intent(in) :: from(:)
    type(model3d_t), intent(in) :: earth
    logical :: table(size(from))
    table = from == from_table
    Ranges%slowest = minval(part(material_vp, :), table)
    Ranges%fluid = minval(part(material_vp, :), table .and. .not. part(material_vs, :) > 0)
    Ranges%told = any(table) .or. job%rho /= ''
    if (.not. all(table)) Ranges%slowest = min(Ranges%slowest, earth%vpmin)
    if (.not. all(table)) Ranges%fluid = min(Ranges%fluid, earth%fluidmin)
    Ranges%stiffest = maxval(part(material_vs, :)/max(part(material_vp, :), tiny(1.0_dp)), table)     ! 0: of volumes
    if (.not. all(table)) Ranges%stiffest = max(Ranges%stiffest, earth%stiffest)
    Ranges%fastest = self%vmax
    Ranges%bottom = bottom
    Ranges%rhomin = self%rhomin
    Ranges%rhomax = self%rhomax
  end function Ranges

  !> For sources and receivers: what finds them in the mesh, how far sides are that damp, the ground that depths count from.
  subroutine PreparePlaces(self, job)
    class(elements3d_t), intent(inout) :: self
    type(job_t), intent(in) :: job
    call FinderMake(self%finder, self%elements%corner)
    self%told = told_t()
    if (allocated(self%to_side)) deallocate (self%to_side)
    if (job%sponge > 0) then
      call SpongeDistances(self%elements, job%sponge, self%to_side)
      self%to_side = min(self%to_side, 2*job%sponge)
    end if
    if (job%source_z == 'surface' .or. job%receiver_z == 'surface') call GroundMake(self%elements, .false., self%surface)
    if (job%source_z == 'seafloor' .or. job%receiver_z == 'seafloor') call GroundMake(self%elements, .true., self%seafloor)
  end subroutine PreparePlaces

  !> The mesh of a job, read or made, before it is checked; `made`: of what, in words.
  subroutine GetMesh(self, job, materials, mesh, made, error)
    class(elements3d_t), intent(in) :: self
    type(job_t), intent(in) :: job
    type(materials_t), intent(in) :: materials
    type(mesh_t), intent(out) :: mesh
    character(:), allocatable, intent(out) :: made
    type(error_t), allocatable, intent(inout) :: error
    type(wavelet_t) :: wavelet
    made = job%mesh
    if (job%mesh == 'layers') then
      call self%wavelet(job, wavelet, error)
      if (allocated(error)) return
      call MeshOfLayers(job, wavelet%fmax, materials, mesh, made, error)
    else
      call MeshRead(job%mesh, mesh, error, up=job%mesh_z == 'up')
    end if
  end subroutine GetMesh

  module procedure WriteMesh
    type(mesh_t) :: mesh
    type(materials_t) :: materials
    type(wavelet_t) :: wavelet
    real(dp), allocatable :: part(:, :), relative(:, :)
    integer, allocatable :: from(:)
    character(:), allocatable :: made
    text = ''
    call MayWrite(job, error)
    if (.not. allocated(error)) call self%wavelet(job, wavelet, error)
    if (job%materials /= '' .and. .not. allocated(error)) call MaterialsRead(job%materials, materials, error, job%mesh_z == 'up')
    if (.not. allocated(error)) call GetMesh(self, job, materials, mesh, made, error)
    if (.not. allocated(error)) call MeshCheck(mesh, error, whole=.true.)
    if (.not. allocated(error)) call MediaOfBlocks(job, materials, mesh, part, relative, from, error)
    if (.not. allocated(error)) call MeshWrite(job%mesh_out, mesh, job%mesh_z == 'up', error)
    if (allocated(error)) return
    call BlocksOf(mesh, part, self%blocks)
    text = job%mesh_out//': '//made//', '//Str(size(mesh%block))//' elements of '//Str(mesh%per)//' nodes, '// &
           Str(size(mesh%x, 2))//' nodes'//nl//BlockRows(self%blocks, wavelet%fmax)
  end procedure WriteMesh

  !> Fails where something is at mesh_out that must stay.
  subroutine MayWrite(job, error)
    type(job_t), intent(in) :: job
    type(error_t), allocatable, intent(inout) :: error
    type(error_t), allocatable :: no_mesh
    type(mesh_t) :: mesh
    if (job%mesh_out == '') call Fail(error, 'mesh_out is empty: give mesh_out=FILE, the mesh to write')
    if (allocated(error)) return
    call FailFromC(path_output(CString(job%mesh_out)), error)
    if (allocated(error)) call AddContext(error, 'mesh_out = '//job%mesh_out//' cannot be written')
    if (allocated(error)) return
    if (.not. FileExists(job%mesh_out)) return
    if (.not. job%overwrite) then
      call Fail(error, 'mesh_out = '//job%mesh_out//' is there already: give another name, or overwrite=y')
    else if (FileSame(job%mesh_out, job%mesh)) then
      call Fail(error, 'mesh_out = '//job%mesh_out//' is the mesh that is read: give another name')
    else
      call MeshRead(job%mesh_out, mesh, no_mesh, up=.true.)
      if (allocated(no_mesh)) &
        call Fail(error, 'mesh_out = '//job%mesh_out//' is there already, and no mesh that could be replaced: give another name')
    end if
  end subroutine MayWrite

  !> The media of blocks from the table, and which have them from volumes: all where there is no table.
  subroutine MediaOfBlocks(job, materials, mesh, part, relative, from, error)
    type(job_t), intent(in) :: job
    type(materials_t), intent(in) :: materials
    type(mesh_t), intent(in) :: mesh
    real(dp), allocatable, intent(out) :: part(:, :), relative(:, :)
    integer, allocatable, intent(out) :: from(:)
    type(error_t), allocatable, intent(inout) :: error
    if (job%materials /= '') then
      call MaterialsOf(materials, mesh, part, from, error, relative)
    else
      allocate (part(material_parts, size(mesh%blocks)), relative(aniso_constants, size(mesh%blocks)), source=0.0_dp)
      allocate (from(size(mesh%blocks)), source=from_volume)
    end if
  end subroutine MediaOfBlocks

  subroutine ReadVolumes(job, mesh, from, earth, error)
    type(job_t), intent(in) :: job
    type(mesh_t), intent(in) :: mesh
    integer, intent(in) :: from(:)
    type(model3d_t), intent(out) :: earth
    type(error_t), allocatable, intent(inout) :: error
    integer :: b
    b = findloc(from == from_table, .false., dim=1)
    if (job%vp == '') then
      call Fail(error, 'block '//Str(mesh%blocks(b)%id)//' of mesh '//job%mesh// &
                ' takes its medium from volumes by the table of '// &
                'materials '//job%materials//', but there are none: give vp=FILE, vs=FILE, rho=FILE')
    else
      call MediaRead(job, mesh, job%sponge, earth, error)
    end if
  end subroutine ReadVolumes

  !> Elements with a medium at each point, and what is told of these.
  subroutine MakeByPoint(self, mesh, part, relative, from, earth, error)
    class(elements3d_t), intent(inout) :: self
    type(mesh_t), intent(in) :: mesh
    real(dp), intent(in) :: part(:, :), relative(:, :)
    integer, intent(in) :: from(:)
    type(model3d_t), intent(in) :: earth
    type(error_t), allocatable, intent(inout) :: error
    logical, allocatable :: wet(:)
    integer, allocatable :: places(:)
    real(dp) :: p, s
    integer :: e
    call MediaPhases(earth, mesh, part, from, wet, error)
    if (allocated(error)) return
    call ElementsMake(mesh, part, self%elements, self%number, self%counts, wet, places, relative)
    call MediaFill(earth, mesh, places, from, self%elements, self%passive, error)
    if (allocated(error)) return
    self%vmax = 0
    self%vmin = huge(1.0_dp)
    associate (m => self%elements)
      do e = 1, m%n
        p = sqrt(maxval((m%lambda(:, e) + 2*m%mu(:, e))/m%rho(:, e)))
        s = sqrt(minval(merge(m%mu(:, e), m%lambda(:, e), e <= m%solid)/m%rho(:, e)))
        if (TensorOf(m, e) > 0) p = FastestIn(m, e)
        if (TensorOf(m, e) > 0) s = SlowestIn(m, e)
        self%vmax = max(self%vmax, p)
        self%vmin = min(self%vmin, s)
      end do
      self%rhomin = minval(m%rho)
      self%rhomax = maxval(m%rho)
    end associate
  end subroutine MakeByPoint

  function Hash(elements)
    type(elements_t), intent(in) :: elements
    character(16) :: Hash
    type(hash_t) :: h
    integer(i8) :: sum
    integer :: e
    do e = 1, elements%n
      call HashAdd(h, reshape(elements%corner(:, :, e), [3*elements%per]))
      call HashAdd(h, elements%face(:, e))
    end do
    sum = checksum_floats(0_i8, size(elements%rho, kind=i8), elements%rho)
    sum = checksum_floats(sum, size(elements%lambda, kind=i8), elements%lambda)
    sum = checksum_floats(sum, size(elements%loss, kind=i8), elements%loss)
    call HashAdd(h, checksum_floats(sum, size(elements%mu, kind=i8), elements%mu))
    if (allocated(elements%ocean)) call HashAdd(h, checksum_floats(0_i8, size(elements%ocean, kind=i8), elements%ocean))
    if (allocated(elements%tensor)) then
      call HashAdd(h, elements%tensor)
      call HashAdd(h, checksum_floats(0_i8, size(elements%relative, kind=i8), elements%relative))
    end if
    Hash = HashText(h)
  end function Hash

end submodule elements3d_mesh
