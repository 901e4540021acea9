# A Conan 2 profile for Debian 12: cameo's requirements are the distribution's packages (docs/install.md has their names),
# so that no server is asked. `conan create . --profile:all=packaging/conan/debian-12.profile --no-remote`
[settings]
os=Linux
arch=x86_64
compiler=gcc
compiler.version=12
compiler.libcxx=libstdc++11
compiler.cppstd=gnu17
build_type=Release

[conf]
tools.cmake.cmaketoolchain:generator=Ninja

[platform_requires]
onnx/1.12.0
protobuf/3.21.12
highway/1.0.3
utf8proc/2.8.0
re2/20220601
fmt/9.1.0
range-v3/0.12.0
nlohmann_json/3.11.2
cli11/2.3.2
libpng/1.6.39
libjpeg/9e
libtiff/4.5.0
libwebp/1.2.4
openjpeg/2.5.0
