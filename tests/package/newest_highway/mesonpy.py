"""Replaces numpy's build backend if numpy is only unpacked: `pip download` requests the metadata of a source package, for
which numpy's backend would configure a build."""
import pathlib
import shutil


def prepare_metadata_for_build_wheel(folder, settings=None):
    made = pathlib.Path(folder) / "numpy.dist-info"
    made.mkdir()
    shutil.copy("PKG-INFO", made / "METADATA")
    (made / "WHEEL").write_text("Wheel-Version: 1.0\n", encoding="utf-8")
    return made.name
