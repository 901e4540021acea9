"""Stands in for numpy's build backend where numpy is only unpacked: `pip download` asks a source package for its metadata,
for which the real one would configure a build."""
import pathlib
import shutil


def prepare_metadata_for_build_wheel(folder, settings=None):
    made = pathlib.Path(folder) / "numpy.dist-info"
    made.mkdir()
    shutil.copy("PKG-INFO", made / "METADATA")
    (made / "WHEEL").write_text("Wheel-Version: 1.0\n", encoding="utf-8")
    return made.name
