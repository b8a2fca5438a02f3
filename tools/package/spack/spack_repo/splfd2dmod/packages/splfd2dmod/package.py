"""Spack 1.0 or newer: builds the programs from a checkout of these sources, with the MPI, NetCDF and CUDA of the cluster.

    spack repo add tools/package/spack/spack_repo/splfd2dmod
    spack dev-build splfd2dmod@main +cuda cuda_arch=90        in the top folder of the sources
"""
import os

from spack.package import Executable, conflicts, depends_on, license, mkdirp, variant, version
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.makefile import MakefilePackage


class Splfd2dmod(MakefilePackage, CudaPackage):
    """Models the shots of seismic surveys, 2D acoustic and 3D elastic, by finite differences and spectral elements."""

    git = "file://" + os.path.realpath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 7))

    license("BSD-3-Clause")
    version("main", branch="main")

    variant("tools", default=True, description="Python modules that the tools spl-* need to run")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("fortran", type="build")
    depends_on("gmake", type="build")
    depends_on("gawk", type="build")
    depends_on("mpi")
    depends_on("netcdf-c")
    depends_on("zlib-api")
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("py-numpy", type=("build", "run"))
    depends_on("py-netcdf4", type="run", when="+tools")
    depends_on("py-matplotlib", type="run", when="+tools")
    depends_on("py-xarray", type="run", when="+tools")
    depends_on("cuda@12.8:", when="+cuda")

    conflicts("cuda_arch=none", when="+cuda", msg="say for which GPUs: cuda_arch=90, or several")
    for compiler in ("%gcc@:11", "%clang", "%oneapi", "%nvhpc"):
        conflicts(compiler, msg="gcc and gfortran 12 or newer are needed")

    @property
    def folder(self):
        return "build/gpu" if self.spec.satisfies("+cuda") else "build/cpu"

    @property
    def build_targets(self):
        words = ["programs", "FC=" + self.spec["mpi"].mpifc, "CC=" + os.environ["CC"]]
        if self.spec.satisfies("+cuda"):
            words.append("ARCH=" + " ".join("sm_" + arch for arch in self.spec.variants["cuda_arch"].value))
        else:
            words.append("GPU=0")
        return words

    def install(self, spec, prefix):
        mkdirp(prefix)
        Executable(os.path.join("tools", "build", "install"))(self.folder, str(prefix))

    def setup_run_environment(self, env):
        env.prepend_path("PYTHONPATH", os.path.join(self.prefix, "share", "splfd2dmod", "tools"))
        env.set("SPL_BIN", os.path.join(self.prefix, "bin"))
