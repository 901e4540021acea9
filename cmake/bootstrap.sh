# Shell functions that examples/quickstart, tests/run and .ci/run share: they install dependencies and build. Sourced by
# bash with `set -eu`. Each function may be called again, and then does nothing.

cameo_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Debian packages by purpose. Each set is needed in addition to the previous ones.
cameo_packages_build="g++ cmake ninja-build git pkg-config ccache libonnx-dev libprotobuf-dev protobuf-compiler
  libfmt-dev librange-v3-dev nlohmann-json3-dev libhwy-dev libcli11-dev libutf8proc-dev libre2-dev libpng-dev
  libjpeg-dev libtiff-dev libwebp-dev libopenjp2-7-dev"
cameo_packages_tests="doctest-dev libeigen3-dev libxtensor-dev libonnx-testdata libflatbuffers-dev flatbuffers-compiler libbenchmark-dev ca-certificates
  python3 clang-16 libc++-16-dev libc++abi-16-dev
  chromium"
cameo_packages_ci="clang-14 clang-tidy-14 libclang-rt-14-dev lld-14 g++-aarch64-linux-gnu qemu-user
  g++-arm-linux-gnueabihf gcc-arm-none-eabi libnewlib-arm-none-eabi libstdc++-arm-none-eabi-newlib qemu-system-arm
  doxygen dpkg-dev file debootstrap"

# The ONNX Runtime of PyPI, with which some tests compare, sends usage data unless this is set.
export ORT_DISABLE_TELEMETRY=1

cameo_say() { printf '== %s\n' "$*" >&2; }

cameo_retry() { # command...: runs a command that uses the network up to three times
  local try
  for try in 1 2 3; do
    "$@" </dev/null && return 0
    cameo_say "failed (try $try of 3): $*"
    sleep $((try * 5))
  done
  return 1
}

cameo_has_package() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# cameo_install build [tests [ci]]: installs the missing packages, or prints the command that root has to run.
cameo_install() {
  local set_name list package missing=()
  if ! command -v dpkg-query >/dev/null 2>&1; then
    cameo_say "not a Debian system: its packages are taken to be there"
    return 0
  fi
  for set_name in "$@"; do
    list=cameo_packages_$set_name
    for package in ${!list}; do
      cameo_has_package "$package" || missing+=("$package")
    done
    # Debian has venv in a separate package; other builds of python3 contain it.
    if [ "$set_name" = tests ] && ! python3 -c 'import venv, ensurepip' >/dev/null 2>&1; then
      missing+=(python3-venv)
    fi
    if [ "$set_name" = ci ] &&
      ! python3 -c 'import sysconfig, os; open(os.path.join(sysconfig.get_paths()["include"], "Python.h"))' >/dev/null 2>&1; then
      missing+=(python3-dev)
    fi
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ]; then
    cameo_say "missing packages; run this as root, then try again:"
    printf '  apt-get update && apt-get install -y --no-install-recommends %s\n' "${missing[*]}" >&2
    return 1
  fi
  cameo_say "installing with apt-get, which takes a minute or two: ${missing[*]}"
  cameo_retry apt-get -qq update && cameo_retry cameo_apt_install "${missing[@]}"
}

# Runs apt-get install, and prints a line at the start, after the downloads and for every twenty packages.
cameo_apt_install() (
  set -o pipefail
  DEBIAN_FRONTEND=noninteractive apt-get -o Dpkg::Use-Pty=0 install -y --no-install-recommends "$@" |
    awk '/newly installed/ { all = $3 }
         /^Need to get|^Fetched/ { print "   " $0; fflush() }
         /^Setting up/ && ++done % 20 == 0 { print "   set up " done " of " all " packages"; fflush() }' >&2
)

# cameo_venv [NAME REQUIREMENTS]: makes a venv with the packages of a requirements file. Sets CAMEO_VENV_PYTHON, or
# CAMEO_VENV_<NAME> if a name is given, to the path of its python.
cameo_venv() {
  local name=${1:-onnx} requirements=$cameo_root/${2:-tests/requirements.txt} folder stamp python
  folder=${CAMEO_VENV_DIR:-$cameo_root/.venv}/$name
  stamp=$(python3 --version; sha256sum <"$requirements")
  python=$folder/bin/python
  if [ $# = 0 ]; then CAMEO_VENV_PYTHON=$python; else printf -v "CAMEO_VENV_$name" %s "$python"; fi
  if [ -x "$python" ] && [ "$(cat "$folder/stamp" 2>/dev/null)" = "$stamp" ]; then
    return 0
  fi
  cameo_say "python packages into $folder: $(tr '\n' ' ' <"$requirements")"
  rm -rf "$folder"
  mkdir -p "$(dirname "$folder")"
  python3 -m venv "$folder" &&
    cameo_retry "$python" -m pip install --quiet --disable-pip-version-check -r "$requirements" >&2 &&
    printf '%s\n' "$stamp" >"$folder/stamp"
}

# cameo_openvino: installs Intel's SDK, and ONNX Runtime with OpenVINO, in separate venvs. Later builds have the
# provider.
cameo_openvino() {
  cameo_venv openvino eps/openvino/requirements.txt && cameo_venv ort_openvino eps/openvino/tests/requirements.txt &&
    export CAMEO_VENV_openvino CAMEO_VENV_ort_openvino
}

# The number of processors that this process may use.
cameo_jobs() { nproc 2>/dev/null || echo 1; }

# cameo_build PRESET [target...]: configures and builds build/PRESET. CAMEO_WERROR=ON makes warnings errors, and
# CAMEO_LEAVE_OUT=OFF missing optional libraries. CAMEO_BUILD_MINUTES is the approximate time of the build in minutes on
# one processor, for a message.
cameo_build() {
  local preset=$1 target arguments=() minutes
  shift
  for target in "$@"; do arguments+=(--target "$target"); done
  local options=() log
  [ -z "${CAMEO_WERROR:-}" ] || options+=(-DCAMEO_WERROR="$CAMEO_WERROR")
  [ -z "${CAMEO_LEAVE_OUT:-}" ] || options+=(-DCAMEO_LEAVE_OUT="$CAMEO_LEAVE_OUT")
  [ -z "${CAMEO_VENV_PYTHON:-}" ] || options+=(-DCAMEO_VENV_PYTHON="$CAMEO_VENV_PYTHON")
  case $preset in release|clang|asan)
    [ -z "${CAMEO_VENV_openvino:-}" ] || options+=(-DCAMEO_EP_OPENVINO=ON -DCAMEO_OPENVINO_PYTHON="$CAMEO_VENV_openvino"
      -DCAMEO_ORT_OPENVINO_PYTHON="${CAMEO_VENV_ort_openvino:-}") ;;
  esac
  # CMake's output is printed only if it fails, except for the messages about features that are left out.
  log=$(cd "$cameo_root" && cmake --preset "$preset" -Wno-dev ${options[@]+"${options[@]}"} 2>&1 </dev/null) || {
    printf '%s\n' "$log" >&2
    return 1
  }
  grep '^-- cameo: ' <<<"$log" >&2 || true
  local jobs=${CAMEO_JOBS:-$(cameo_jobs)}
  if [ -n "${CAMEO_BUILD_MINUTES:-}" ]; then
    minutes=$(((CAMEO_BUILD_MINUTES + jobs - 1) / jobs))
    cameo_say "compiling: about $minutes min on $jobs processors, less where ccache has seen it; the first line takes a while"
  fi
  cmake --build "$cameo_root/build/$preset" -j "$jobs" ${arguments[@]+"${arguments[@]}"} </dev/null >&2
}
