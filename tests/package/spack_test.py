#!/usr/bin/env python3
"""Whether Spack's package says what CMake understands: its options configure a build, and none is unknown.

    spack_test.py SOURCE_FOLDER MPICXX_OF_MPICH MPICXX_OF_OPEN_MPI

Spack is not here. A stand-in for what the package takes from it remembers the directives, and answers for a spec.
"""

import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile
import types
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
WRAPPERS = {"mpich": sys.argv.pop(1), "openmpi": sys.argv.pop(1)}
PACKAGE = SOURCE / "packaging/spack/spack_repo/penstock/packages/penstock/package.py"


class StandIn:
    """Modules of Spack's names, whose directives note what they are called with."""

    def __init__(self):
        self.called = []
        package = types.ModuleType("spack.package")
        for name in ("license", "version", "variant", "depends_on", "conflicts"):
            setattr(package, name, self.directive(name))
        package.run_after = lambda phase: lambda function: function
        package.on_package_attributes = lambda **attributes: lambda function: function
        package.Executable = lambda path: None
        self.modules = {"spack": types.ModuleType("spack"), "spack.package": package}
        for name in ("cmake", "cuda"):
            module = types.ModuleType(f"spack_repo.builtin.build_systems.{name}")
            base = f"{'CMake' if name == 'cmake' else 'Cuda'}Package"
            setattr(module, base, type(base, (), {}))
            module.generator = self.directive("generator")
            self.modules[module.__name__] = module
        for name in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
            self.modules[name] = types.ModuleType(name)

    def directive(self, name):
        return lambda *words, **more: self.called.append((name, words, more))

    def load(self):
        sys.modules.update(self.modules)
        spec = importlib.util.spec_from_file_location("package", PACKAGE)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.Penstock

    def of(self, directive):
        return [(words, more) for name, words, more in self.called if name == directive]


class Spec:
    """Variants that are on, and the MPI."""

    def __init__(self, on, mpi):
        self.on = on
        self.mpi = types.SimpleNamespace(name=mpi, mpicxx=WRAPPERS[mpi])
        self.variants = {"cuda_arch": types.SimpleNamespace(value=("90",))}

    def satisfies(self, words):
        assert words[0] in "+~" or words == "cuda_arch=none", words
        return (words[1:] in self.on) == (words[0] == "+") if words[0] in "+~" else False

    def __getitem__(self, name):
        assert name == "mpi"
        return self.mpi


def arguments(penstock, on, mpi):
    """As CMakePackage has them for that spec."""
    package = penstock()
    package.spec = Spec(on, mpi)
    package.run_tests = False

    def define(name, value):
        text = ";".join(value) if isinstance(value, (list, tuple)) else {True: "ON", False: "OFF"}.get(value, value)
        return f"-D{name}={text}"

    package.define = define
    package.define_from_variant = lambda name, variant: define(name, variant in on)
    return package.cmake_args()


class Spack(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.spack = StandIn()
        cls.penstock = cls.spack.load()
        cls.variants = {words[0] for words, _ in cls.spack.of("variant")} | {"cuda"}  # of CudaPackage

    def configure(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run(
                ["cmake", "-S", SOURCE, "-B", folder, "-G", "Ninja", *words], text=True, capture_output=True
            )
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertNotIn("not used by the project", run.stderr)
            return run.stdout

    def test_is_of_this_version(self):
        said = re.search(r"project\(\s*penstock\s+VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text(), re.I)
        self.assertEqual([words[0] for words, _ in self.spack.of("version")], [said[1]])

    def test_conditions_are_of_variants_that_there_are(self):
        for words, more in self.spack.of("depends_on") + self.spack.of("conflicts"):
            for variant in re.findall(r"[+~](\w+)", more.get("when", "")):
                self.assertIn(variant, self.variants, words)

    def test_configures_with_everything(self):
        said = self.configure(*arguments(self.penstock, {"lines", "otf2", "gmh"}, "mpich"))
        self.assertIn("GPU is simulated", said)
        self.assertEqual(re.findall(r"Penstock: no (\w+)", said), ["protozero"])

    def test_configures_with_as_little_as_can_be(self):
        said = self.configure(*arguments(self.penstock, set(), "openmpi"))
        for library in ("libdw", "protozero", "otf2", "hwloc"):
            self.assertIn(f"Penstock: no {library}", said)
        self.assertNotIn("Penstock: no libelf", said)

    def test_names_the_gpus_that_are_asked_for(self):
        words = arguments(self.penstock, {"cuda"}, "mpich")
        self.assertIn("-DPENSTOCK_GPU=cuda", words)
        self.assertIn("-DCMAKE_CUDA_ARCHITECTURES=90", words)


if __name__ == "__main__":
    unittest.main()
