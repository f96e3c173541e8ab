"""Penstock for Spack 1.0 or later. The sources are a folder that `spack develop` names: see packaging/README.md."""

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Penstock(CMakePackage, CudaPackage):
    """Moves GPU buffers between ranks over a stock MPI, and shows where communication is exposed."""

    license("Apache-2.0")

    # Without a checksum, as it is not published: `spack develop` brings the sources.
    version("0.1.0")

    variant("lines", default=True, description="Name file and line of call sites, by libdw")
    variant("otf2", default=True, description="penstock export --otf2")
    variant("page", default=True, description="penstock report --html; the archive brings the page built")
    variant("gmh", default=False, description="Build examples/gmh, which needs hwloc")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")

    # Whose headers and wrapper are taken. The library that is preloaded links no MPI.
    depends_on("mpi")
    depends_on("cli11")
    depends_on("fmt@8:")
    depends_on("nlohmann-json")
    depends_on("utf8cpp", type="build")
    # libelf is part of it, too: without it `penstock run` does not see which MPI a program needs
    depends_on("elfutils")
    depends_on("otf2", when="+otf2")
    depends_on("hwloc", when="+gmh")
    # fibres of the simulated GPU
    depends_on("boost+context", when="~cuda")
    depends_on("cuda@12.4:", when="+cuda")

    conflicts("%gcc@:10", msg="C++20 as Penstock uses it needs GCC 11 or Clang 14")
    conflicts("platform=darwin")
    conflicts("platform=windows")

    generator("ninja")

    _libraries_of_variants = {"lines": "libdw", "otf2": "otf2", "gmh": "hwloc"}

    def _family_of_mpi(self):
        """mpich stands for all that share its ABI."""
        return "openmpi" if self.spec["mpi"].name in ("openmpi", "hpcx-mpi") else "mpich"

    def cmake_args(self):
        spec = self.spec
        family = self._family_of_mpi()
        # Spack has no protozero, which `penstock export --perfetto` takes
        left_out = ["protozero"] + [
            library for variant, library in self._libraries_of_variants.items() if not spec.satisfies(f"+{variant}")
        ]
        args = [
            self.define("BUILD_TESTING", self.run_tests),
            self.define("PENSTOCK_GPU", "cuda" if spec.satisfies("+cuda") else "simulated"),
            self.define_from_variant("PENSTOCK_PAGE", "page"),
            self.define("PENSTOCK_WITHOUT", left_out),
            self.define("PENSTOCK_MPI", family),
            self.define(f"PENSTOCK_{family.upper()}_MPICXX", spec["mpi"].mpicxx),
        ]
        if spec.satisfies("+cuda") and not spec.satisfies("cuda_arch=none"):
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", list(spec.variants["cuda_arch"].value)))
        return args

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_that_it_starts(self):
        Executable(self.prefix.bin.penstock)("--version")
