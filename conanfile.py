from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir
from conan.tools.gnu import PkgConfigDeps
import os
import re


class CameoConan(ConanFile):
    name = "cameo"
    description = "Runs ONNX models; a runtime is a list of provider types"
    license = "MIT"
    topics = ("onnx", "machine-learning", "inference", "neural-network")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "fPIC": [True, False],
        "with_program": [True, False],  # the command line program, too
        "with_re2": [True, False],  # cpu's RegexFullMatch
        "with_pictures": [True, False],  # the libraries of cpu's ImageDecoder, which reads BMP and PNM files without
        "providers": ["ANY"],  # names of folders of eps/, as "npu,cpu"; cpu is last and always there
    }
    default_options = {"shared": False, "fPIC": True, "with_program": False, "with_re2": True,
                       "with_pictures": True, "providers": "cpu"}
    # Package, component and library of each, and the name that CAMEO_PICTURES has for it.
    pictures = {"jpeg": ("libjpeg", "libjpeg", "jpeg"), "png": ("libpng", "libpng", "png"),
                "tiff": ("libtiff", "tiff", "tiff"), "webp": ("libwebp", "webp", "webp"),
                "openjp2": ("openjpeg", "openjp2", "openjp2")}
    exports_sources = ("CMakeLists.txt", "cmake/*", "packaging/*", "include/*", "src/*", "eps/*", "LICENSE",
                       "THIRD_PARTY.md")
    implements = ["auto_shared_fpic"]

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, "include", "cameo", "core", "version.hpp"))
        numbers = re.findall(r"^#define CAMEO_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", text, re.MULTILINE)
        self.version = self.version or ".".join(numbers)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        # Ranges end with what was tried, see docs/install.md.
        # What the libraries are linked with; what they use by headers alone ends with their own compilation.
        self.requires("onnx/[>=1.12 <1.23]")
        self.requires("protobuf/[>=3.21 <7.37]")
        self.requires("highway/[>=1.0.3 <1.5]")
        self.requires("utf8proc/[>=2.8 <2.12]")
        if self.options.with_re2:
            self.requires("re2/[>=20220601 <20251106]")
        if self.options.with_pictures:
            self.requires("libjpeg/[>=9e]")
            self.requires("libpng/[>=1.6 <2]")
            self.requires("libtiff/[>=4.5 <5]")
            self.requires("libwebp/[>=1.2 <2]")
            self.requires("openjpeg/[>=2.5 <3]")
        headers_alone = {"headers": True, "libs": False, "visible": False}
        self.requires("fmt/[>=9.1 <12.3]", **headers_alone)
        self.requires("range-v3/[>=0.12 <0.13]", **headers_alone)
        self.requires("nlohmann_json/[>=3.11 <3.12]", **headers_alone)
        if self.options.with_program:
            self.requires("cli11/[>=2.3 <2.8]", **headers_alone)

    def validate(self):
        # No word about compiler.cppstd: cameo's CMake files ask for C++20 themselves, whatever a profile says.
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("cameo is developed for Linux")
        if self._providers()[-1] != "cpu":
            raise ConanInvalidConfiguration("the provider cpu is the last one")

    def _providers(self):
        return str(self.options.providers).split(",")

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["CAMEO_TESTS"] = toolchain.cache_variables["CAMEO_BENCHMARKS"] = False
        # Other compilers have other warnings: only cameo's own tests turn them into errors.
        toolchain.cache_variables["CAMEO_WERROR"] = self.conf.get("user.cameo:werror", False, check_type=bool)
        toolchain.cache_variables["CAMEO_PROGRAM"] = bool(self.options.with_program)
        toolchain.cache_variables["CAMEO_RE2"] = bool(self.options.with_re2)
        toolchain.cache_variables["CAMEO_PICTURES"] = ";".join(self.pictures) if self.options.with_pictures else ""
        toolchain.cache_variables["CAMEO_PROVIDERS"] = ";".join(self._providers())
        toolchain.cache_variables["CAMEO_LIBRARIES"] = "shared" if self.options.shared else "static"
        toolchain.generate()
        dependencies = CMakeDeps(self)
        dependencies.set_property("highway", "cmake_file_name", "hwy")
        dependencies.set_property("highway::hwy", "cmake_target_name", "hwy::hwy")
        dependencies.generate()
        PkgConfigDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        # Conan writes its own, of what package_info says.
        for folder in ("lib/cmake", "lib/pkgconfig", "share"):
            rmdir(self, os.path.join(self.package_folder, folder))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "cameo")
        providers = [f"ep_{name}" for name in self._providers()]
        components = self.cpp_info.components
        components["target"].set_property("cmake_target_name", "cameo::target")
        components["target"].libdirs = components["target"].bindirs = []

        def component(name, libs, requires):
            components[name].set_property("cmake_target_name", f"cameo::{name}")
            components[name].libs, components[name].requires = libs, requires

        def link(name, *required):
            """Components of requirements; of a library that the platform brings, its own name."""
            direct = {dependency.ref.name for dependency in self.dependencies.host.values()}
            for package, part, library in required:
                if package in direct:
                    components[name].requires.append(f"{package}::{part}")
                else:
                    components[name].system_libs.append(library)

        formats = [("onnx", "onnx_proto", "onnx_proto"), ("protobuf", "libprotobuf", "protobuf")]
        texts = ("utf8proc", "utf8proc", "utf8proc")
        kernels = [("highway", "hwy", "hwy"), texts]
        if self.options.with_re2:
            kernels.append(("re2", "re2", "re2"))
        if self.options.with_pictures:
            kernels.extend(self.pictures.values())
        if self.options.shared:
            component("cameo", ["cameo"], ["target"])
            link("cameo", *formats, *kernels)
            for name in ["c", "minimal", "package", "host", "format", "onnx", *providers]:
                component(name, [], ["cameo"])
        else:
            component("minimal", ["cameo_minimal"], ["target"])
            component("package", ["cameo_package"], ["minimal"])
            component("host", ["cameo_host"], ["package"])
            component("format", ["cameo_format"], ["host"])
            component("onnx", ["cameo_onnx"], ["format"])
            components["host"].system_libs = ["pthread"]
            link("package", texts)
            link("onnx", *formats)
            for name in providers:
                component(name, [f"cameo_{name}"], ["host"])
                link(name, *kernels)
            component("cameo", [], [*providers, "onnx", "format", "host", "package", "minimal"])
            component("c", ["cameo_c"], ["cameo"])
        components["cameo"].set_property("pkg_config_name", "cameo")
