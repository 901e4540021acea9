"""Empty Debian systems ("roots") in folders, in which commands run by chroot. From this machine they only get the
settings that they need: package sources (for the root's release), the settings of apt, proxies, certificates, pip's
index, the compiler cache, and a clone of the tree.

Downloads are stored in the folder $CAMEO_ROOTS_DIR, by default cameo/roots in the user's cache: an archive of the root
that debootstrap made, and the packages that apt has downloaded. Each run unpacks a new root and removes it at the end.

Mounts are made in a mount namespace of this process, so that they are removed even if the process is killed: see
enter_namespace().
"""
import ast
import dataclasses
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
KEPT = pathlib.Path(os.environ.get("CAMEO_ROOTS_DIR") or CACHE / "cameo" / "roots").resolve()
APT = pathlib.Path("/etc/apt")
USER, USER_ID = "reader", 1000
# Environment variables with settings of the network. If a value is a path, the root gets a mount of it.
LENT = re.compile(r"(PIP_\w+|\w+_proxy|\w+_PROXY|SSL_CERT_FILE|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE)$")
# Settings of apt for the network. The root has its own other settings.
LENT_APT = re.compile(r"Acquire::(https?|ftp|Check-Valid-Until|Check-Date|Retries|ForceIPv\d|AllowInsecureRepositories)\b")


class CannotMake(Exception):
    """A root cannot be made on this machine; the message has the reason and the remedy."""


class Failed(Exception):
    """A command in a root failed; the message has its output."""


def enter_namespace():
    """Starts this program again in a mount namespace, unless it is in one."""
    if os.environ.pop("CAMEO_IN_NAMESPACE", None):
        return
    if os.geteuid() != 0:
        raise CannotMake("making and entering roots needs the user root: run this as root")
    tried = subprocess.run(["unshare", "--mount", "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        raise CannotMake(f"this system does not allow a mount namespace, which roots need ({tried.stderr.strip()}): run this "
                         "on a machine or in a container with the capability CAP_SYS_ADMIN")
    os.environ["CAMEO_IN_NAMESPACE"] = "1"
    os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv])


def lock(release):
    """Waits for another run that uses the root of a release; the lock ends with this process."""
    (KEPT / release).mkdir(parents=True, exist_ok=True)
    held = os.open(KEPT / release / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"   another run uses the root in {KEPT / release}; this one waits for it", flush=True)
        fcntl.flock(held, fcntl.LOCK_EX)


def this_release():
    """The name of this machine's release of Debian, such as bookworm."""
    text = pathlib.Path("/etc/os-release").read_text(encoding="utf-8")
    name = re.search(r"^VERSION_CODENAME=(\w+)$", text, re.MULTILINE)
    if not name or not re.search(r"^ID=debian$", text, re.MULTILINE):
        raise CannotMake("this machine is not a Debian system, so it does not have sources of Debian's packages")
    return name.group(1)


@dataclasses.dataclass
class Source:
    uri: str
    suite: str
    components: list
    signed_by: str  # a file of keys, or ""


def read_sources():
    """Reads the sources of binary packages of this machine's apt, in both formats of its files."""
    sources = []
    files = [APT / "sources.list", *sorted((APT / "sources.list.d").glob("*"))]
    for file in filter(pathlib.Path.is_file, files):
        text = re.sub(r"^\s*#.*\n?", "", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
        if file.suffix == ".list":
            for line in re.finditer(r"^deb\s+(?:\[(.*?)\]\s+)?(\S+)\s+(\S+)\s+(.*)$", text, re.MULTILINE):
                signed = re.search(r"signed-by=(\S+)", line.group(1) or "")
                sources.append(Source(line.group(2), line.group(3), line.group(4).split(), signed.group(1) if signed else ""))
        elif file.suffix == ".sources":
            for stanza in re.split(r"\n\s*\n", text):
                fields = {k.lower(): v.split() for k, v in re.findall(r"^([\w-]+):((?:.*)(?:\n[ \t].*)*)", stanza, re.MULTILINE)}
                if "deb" not in fields.get("types", []) or fields.get("enabled") == ["no"]:
                    continue
                signed = " ".join(fields.get("signed-by", []))
                sources += [Source(uri, suite, fields.get("components", []), signed if signed.startswith("/") else "")
                            for uri in fields["uris"] for suite in fields["suites"]]
    return sources


def sources_for(release):
    """Returns this machine's sources of Debian with the name of another release; sources of other vendors are left out,
    because their suites are not named after Debian's release."""
    mine = this_release()
    of_debian = [source for source in read_sources() if re.match(rf"{mine}(?![a-z])", source.suite)]
    if not any(source.suite == mine for source in of_debian):
        raise CannotMake(f"no source in {APT} has the suite '{mine}', from which a root could be made")
    return [dataclasses.replace(source, suite=release + source.suite[len(mine):]) for source in of_debian]


def apt_settings():
    """Returns the settings of `apt-config dump` for the network."""
    dump = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True).stdout
    return "".join(line + "\n" for line in dump.splitlines() if LENT_APT.match(line))


def lent_variables():
    """Returns this machine's environment variables for the network, and pip's settings as variables, which take
    precedence over pip's files."""
    variables = {name: value for name, value in os.environ.items() if LENT.match(name)}
    listed = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False)
    for key, value in re.findall(r"^(?:global|install)\.([\w-]+)=('.*'|\".*\")$", listed.stdout, re.MULTILINE):
        variables.setdefault("PIP_" + key.upper().replace("-", "_"), ast.literal_eval(value))
    return variables


def make_pristine(release):
    """Returns the archive of an empty root, which debootstrap makes if it is missing."""
    sources = sources_for(release)
    first = next(source for source in sources if source.suite == release)
    secure = first.uri.startswith("https:")
    made_of = hashlib.sha256(repr((first, secure, "1")).encode()).hexdigest()[:16]
    archive = KEPT / release / f"empty-{made_of}.tar"
    if archive.exists():
        return archive
    if not shutil.which("debootstrap"):
        raise CannotMake("debootstrap is missing: apt-get install debootstrap")
    print(f"   debootstrap makes a root of {release}", flush=True)
    making = KEPT / release / "making"
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    for old in making.parent.glob("empty-*"):
        old.unlink()
    environment = dict(os.environ)
    for scheme in ("http", "https"):
        proxy = re.search(rf'^Acquire::{scheme}::Proxy "(.+)";$', apt_settings(), re.MULTILINE)
        if proxy:
            environment.setdefault(f"{scheme}_proxy", proxy.group(1))
    keys = [f"--keyring={first.signed_by}"] if first.signed_by else []
    done = subprocess.run(["debootstrap", "--variant=minbase", *(["--include=ca-certificates"] if secure else []), *keys,
                           f"--components={','.join(first.components)}", release, making, first.uri],
                          env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode:
        log = making / "debootstrap" / "debootstrap.log"
        details = log.read_text(encoding="utf-8", errors="replace")[-1500:] if log.exists() else ""
        raise CannotMake(f"a root of {release} cannot be made from this machine's package sources: debootstrap with "
                         f"{first.uri} from {APT} ended with {done.returncode}. The end of its output:\n"
                         f"{done.stdout[-1500:]}\n{details}")
    shutil.rmtree(making / "var/cache/apt/archives", ignore_errors=True)
    unfinished = archive.with_suffix(".part")
    subprocess.run(["tar", "-C", making, "--one-file-system", "-cf", unfinished, "."], check=True)
    unfinished.rename(archive)
    shutil.rmtree(making)
    return archive


class Root:
    """A new empty root of a release, which is removed at the end: `with Root("bookworm") as root: root.run(...)`."""

    def __init__(self, release):
        self.release = release
        self.folder = KEPT / release / "now"
        self.environment = {"LANG": "C.UTF-8"}
        self.kept = False  # True: the folder is not removed

    def __enter__(self):
        lock(self.release)
        archive = make_pristine(self.release)
        self.unpack(archive)
        return self

    def __exit__(self, *_):
        if not self.kept:
            self.remove()

    def unpack(self, archive):
        self.remove()
        self.folder.mkdir()
        subprocess.run(["tar", "-C", self.folder, "-xf", archive], check=True)
        self.mount("proc", self.folder / "proc", "-t", "proc")
        (KEPT / self.release / "packages/partial").mkdir(parents=True, exist_ok=True)
        self.lend(KEPT / self.release / "packages", self.folder / "var/cache/apt/archives")
        for name in ("resolv.conf", "hosts"):
            shutil.copy(pathlib.Path("/etc") / name, self.folder / "etc" / name)
        self.write("etc/dpkg/dpkg.cfg.d/fast", "force-unsafe-io\n")  # faster; the root need not survive a power failure
        self.lend_sources()
        self.lend_network()
        self.lend_compiler_cache()
        self.lend_tree()
        subprocess.run(["chroot", self.folder, "useradd", "--create-home", "--shell", "/bin/bash", "--uid", str(USER_ID), USER],
                       check=True)

    def remove(self):
        """Removes the root. Unmounts this machine's files first, so that they are not removed."""
        for line in reversed(pathlib.Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()):
            place = line.split()[1].encode().decode("unicode_escape")
            if pathlib.Path(place).is_relative_to(self.folder):
                subprocess.run(["umount", "--lazy", place], check=True)  # a process that hangs may still have it open
        if self.folder.exists():
            subprocess.run(["rm", "-rf", "--one-file-system", self.folder], check=True)

    def write(self, path, text):
        path = self.folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    @staticmethod
    def mount(what, where, *options):
        done = subprocess.run(["mount", *options, what, where], capture_output=True, text=True, check=False)
        if done.returncode:
            raise CannotMake(f"this system does not allow the mounts that a root needs: mount {where}: {done.stderr.strip()}")

    def lend(self, what, where, writable=True):
        """Mounts a file or folder of this machine in the root."""
        if not what.exists():
            what.mkdir(parents=True)
        if what.is_dir():
            where.mkdir(parents=True, exist_ok=True)
        else:
            where.parent.mkdir(parents=True, exist_ok=True)
            where.touch()
        self.mount(what, where, "--bind")
        if not writable:
            self.mount(what, where, "-o", "remount,bind,ro")

    def lend_sources(self):
        text = ""
        for source in sources_for(self.release):
            signed = f" [signed-by={source.signed_by}]" if source.signed_by else ""
            text += f"deb{signed} {source.uri} {source.suite} {' '.join(source.components)}\n"
            if source.signed_by:  # the root may have other keys under these names
                target = self.folder / source.signed_by.lstrip("/")
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source.signed_by, target)
        shutil.rmtree(self.folder / "etc/apt/sources.list.d", ignore_errors=True)
        self.write("etc/apt/sources.list", text)
        self.write("etc/apt/apt.conf.d/50lent", apt_settings() + 'APT::Get::Assume-Yes "true";\n')
        for name in ("auth.conf", "auth.conf.d"):
            if (APT / name).exists():
                self.lend(APT / name, self.folder / "etc/apt" / name, writable=False)

    def lend_network(self):
        for name, value in lent_variables().items():
            if value.startswith("/") and pathlib.Path(value).exists():
                self.lend(pathlib.Path(value).resolve(), self.folder / "lent" / name, writable=False)
                value = f"/lent/{name}"
            self.environment[name] = value

    def lend_compiler_cache(self):
        """Mounts ccache's folder. Only root may write to it; users find the objects that root has compiled before."""
        done = subprocess.run(["ccache", "--get-config", "cache_dir"], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            self.lend(pathlib.Path(done.stdout.strip()), self.folder / "lent/ccache")
            self.environment["CCACHE_DIR"] = "/lent/ccache"

    def lend_tree(self):
        """Copies the last commit of this tree as a repository that git can clone."""
        subprocess.run(["git", "clone", "--quiet", "--bare", "--depth", "1", f"file://{ROOT}", self.folder / "lent/cameo.git"],
                       check=True)
        self.write("etc/gitconfig", "[safe]\n\tdirectory = *\n[advice]\n\tdetachedHead = false\n")

    def run(self, words, user="root", folder="/", minutes=60, environment=None):
        """Runs a command in the root and returns its output. Raises Failed if it fails."""
        done = self.try_run(words, user, folder, minutes, environment)
        if done.returncode:
            raise Failed(f"{' '.join(words)} (as {user} in {folder}) ended with {done.returncode}:\n{done.stdout[-6000:]}")
        return done.stdout

    def install(self, line):
        """Runs a line with apt-get as root; questions are answered with yes."""
        self.run(["sh", "-ec", line], environment={"DEBIAN_FRONTEND": "noninteractive"})

    def try_run(self, words, user="root", folder="/", minutes=60, environment=None):
        home = "/root" if user == "root" else f"/home/{user}"
        variables = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": home, "USER": user,
                     **self.environment, **(environment or {})}
        if user != "root":
            variables |= {"CCACHE_READONLY": "1", "CCACHE_TEMPDIR": "/tmp"}
        identity = [] if user == "root" else [f"--userspec={USER_ID}:{USER_ID}"]
        started = subprocess.Popen(
            ["chroot", *identity, self.folder, "/usr/bin/env", "-i", *(f"{k}={v}" for k, v in variables.items()), "sh", "-c",
             'cd "$0" && exec "$@"', folder, *words],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            start_new_session=True)
        try:
            output = started.communicate(timeout=60 * minutes)[0]
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)
            raise Failed(f"{' '.join(words)} took more than {minutes} minutes:\n{started.communicate()[0][-6000:]}") from None
        return subprocess.CompletedProcess(words, started.returncode, output)
