#!/usr/bin/env python3
"""Packs programs, and a Python package if there is one, into a wheel; Python's standard library is all it needs.

    wheel.py --programs FOLDER --bom FOLDER --out FOLDER --version VERSION --date SECONDS --summary TEXT
             --repository URL [--intel VERSION] [--module FOLDER --abi PYTHON-ABI --project PYPROJECT.TOML]
    wheel.py @FILE ...        with further arguments from a file, one a line
    wheel.py --check WHEEL

--programs: `rsalab`, workers `rsalab-peer-NAME`, and what they need beside them (*.jar); all of the folder. `rsalab`
becomes a script of the wheel, and the others go to `libexec/rsalab` of the environment, where `rsalab` looks for them:
only programs for people are on the path.
--bom: what `cargo xtask bom` wrote: licences, an SBOM, and the licence expression.
--module: a folder with the Python package `rsalab` as it is imported (its extension module, *.py, *.pyi, py.typed), and
modules next to it, which are called rsalab_*; its tags, such as cp310-abi3, and the file whose table [project] has what
else it needs: requires-python, dependencies, optional-dependencies, entry-points. Without it the wheel is for every
Python 3.
--intel: the version of Intel's packages for the extra `intel`, which brings them on x86-64 alone. The wheel for another
CPU names them too: installers that write lock files take the metadata of one wheel for those of all.

The platform tag is what the programs ask for, read from them: their machine, and the newest version of glibc of any
symbol that they need. A program that needs a shared library which the manylinux policies do not allow is an error.

--check opens a wheel anew: every file against RECORD, the metadata, the tag, the SBOM.

--date: the date of all files, in seconds since 1970. The same programs, date and version of zlib give the same bytes.
"""

import argparse
import base64
import csv
import email.parser
import hashlib
import io
import json
import os
import pathlib
import re
import struct
import sys
import time
import zipfile

NAME = "rsalab"
WORKER = "rsalab-peer-"
# What the manylinux policies allow (PEP 600, and auditwheel's table), of what programs of ours could need.
ALLOWED = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1"}
LOADER = re.compile(r"ld-linux-[a-z0-9-]+\.so\.[0-9]")
# The versions of libgcc_s that gcc 4.8 has: manylinux2014 allows no newer ones.
NEWEST_GCC = (4, 8, 0)
MACHINES = {62: "x86_64", 183: "aarch64"}


def fail(message):
    sys.exit(f"wheel.py: {message}")


class Elf:
    """A program for Linux (64 bits, little-endian): its machine, and the libraries and versions of symbols it needs."""

    def __init__(self, name, data):
        if data[4:6] != b"\x02\x01":
            fail(f"{name} is no ELF file of 64 bits, little-endian")
        self.machine = MACHINES.get(struct.unpack_from("<H", data, 18)[0]) or fail(f"{name} is for an unknown machine")
        self.needed, self.versions = [], []
        table, = struct.unpack_from("<Q", data, 40)
        size, count = struct.unpack_from("<HH", data, 58)
        sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + at * size) for at in range(count)]
        for _, kind, _, _, offset, length, link, info, _, _ in sections:
            if kind == 6:  # SHT_DYNAMIC
                strings = sections[link][4]
                for at in range(offset, offset + length, 16):
                    tag, value = struct.unpack_from("<QQ", data, at)
                    if tag == 1:  # DT_NEEDED
                        self.needed.append(self._text(data, strings + value))
            if kind == 0x6FFFFFFE:  # SHT_GNU_verneed: a list of libraries, each with a list of versions
                strings, at = sections[link][4], offset
                for _ in range(info):
                    _, versions, library, first, following = struct.unpack_from("<HHIII", data, at)
                    library, entry = self._text(data, strings + library), at + first
                    for _ in range(versions):
                        name_at, next_entry = struct.unpack_from("<II", data, entry + 8)
                        self.versions.append((library, self._text(data, strings + name_at)))
                        entry += next_entry
                    at += following

    @staticmethod
    def _text(data, at):
        return data[at:data.index(b"\0", at)].decode()


def numbers(version):
    return tuple(int(part) for part in version.split("."))


def glibc(version):
    """The release of glibc that a version of symbols stands for; None if it is none of glibc's."""
    if version == "GLIBC_ABI_DT_RELR":
        return (2, 36)
    match = re.fullmatch(r"GLIBC_([0-9.]+)", version)
    return numbers(match[1]) if match else None


def platform(programs):
    """The platform tag of programs ((name, bytes) each); files that are no ELF are for every platform."""
    machines, newest, by = set(), (2, 17), "none: it is the oldest there is a tag for"
    for name, data in programs:
        if not data.startswith(b"\x7fELF"):
            continue
        elf = Elf(name, data)
        machines.add(elf.machine)
        refused = [library for library in elf.needed if library not in ALLOWED and not LOADER.fullmatch(library)]
        if refused:
            fail(f"{name} needs {', '.join(refused)}, which not every system has: link it statically")
        for library, version in elf.versions:
            release = glibc(version)
            if release and release > newest:
                newest, by = release, name
            gcc = re.fullmatch(r"GCC_([0-9.]+)", version)
            if not release and not (gcc and numbers(gcc[1]) <= NEWEST_GCC):
                fail(f"{name} needs {version} of {library}, which not every system has")
    if len(machines) != 1:
        fail(f"programs for {len(machines)} machines: {', '.join(sorted(machines))}")
    print(f"wheel.py: glibc {newest[0]}.{newest[1]} is asked for, by {by}", file=sys.stderr)
    return f"manylinux_{newest[0]}_{newest[1]}_{machines.pop()}"


def requirement(text, extra):
    """A dependency of an extra as METADATA has it."""
    what, _, marker = (part.strip() for part in text.partition(";"))
    return f'{what} ; ({marker}) and extra == "{extra}"' if marker else f'{what} ; extra == "{extra}"'


def entry_points(project):
    """The file entry_points.txt of a project; empty without any."""
    groups = dict(project.get("entry-points", {}))
    if "scripts" in project:
        groups["console_scripts"] = project["scripts"]
    written = []
    for group, points in groups.items():
        written.append(f"[{group}]\n" + "".join(f"{name} = {where}\n" for name, where in points.items()))
    return "\n".join(written)


def metadata(arguments, licences, project):
    expression = (arguments.bom / "license-expression").read_text().strip()
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {NAME}",
        f"Version: {arguments.version}",
        f"Summary: {arguments.summary}",
        f"License-Expression: {expression}",
        *(f"License-File: {name}" for name in licences),
        f"Project-URL: Repository, {arguments.repository}",
        "Keywords: rsa,cryptography,benchmark,openssl,gmp",
        "Classifier: Environment :: Console",
        "Classifier: Intended Audience :: Science/Research",
        "Classifier: Operating System :: POSIX :: Linux",
        "Classifier: Programming Language :: Rust",
        "Classifier: Topic :: Security :: Cryptography",
        "Classifier: Topic :: System :: Benchmark",
        f"Requires-Python: {project.get('requires-python', '>=3.8')}",
        *(f"Requires-Dist: {dependency}" for dependency in project.get("dependencies", [])),
    ]
    extras = dict(project.get("optional-dependencies", {}))
    if arguments.intel:
        marker = "platform_machine == 'x86_64'"
        packages = ("ipp-crypto", "intel-cmplr-lib-rt")
        extras["intel"] = [f"{package}=={arguments.intel} ; {marker}" for package in packages]
    for extra, dependencies in sorted(extras.items()):
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {requirement(dependency, extra)}" for dependency in dependencies]
    lines += ["Description-Content-Type: text/markdown", ""]
    readme = pathlib.Path(__file__).with_name("README.md").read_text()
    return ("\n".join(lines) + "\n" + readme).encode()


def pack(arguments):
    programs = []
    for path in sorted(arguments.programs.iterdir()):
        programs.append((path.name, path.read_bytes(), os.access(path, os.X_OK)))
    if NAME not in (name for name, _, _ in programs):
        fail(f"there is no {NAME} in {arguments.programs}")
    module = []
    if arguments.module:
        for path in sorted(arguments.module.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                name = path.relative_to(arguments.module).as_posix()
                if not name.startswith((f"{NAME}/", f"{NAME}_")):
                    fail(f"{name} in {arguments.module} is not {NAME}'s")
                module.append((name, path.read_bytes()))
        if not any(name == f"{NAME}/__init__.py" for name, _ in module):
            fail(f"there is no {NAME}/__init__.py in {arguments.module}")
    project = {}
    if arguments.project:
        import tomllib  # Python 3.11 has it; only this takes it

        project = tomllib.loads(arguments.project.read_text())["project"]
    tag = platform([(name, data) for name, data, _ in programs] + module)
    tag = f"{arguments.abi or 'py3-none'}-{tag}"

    info, data_folder = f"{NAME}-{arguments.version}.dist-info", f"{NAME}-{arguments.version}.data"
    licences = sorted(path.name for path in (arguments.bom / "licenses").iterdir())
    files = [(name, data, False) for name, data in module]
    for name, data, runs in programs:
        folder = "scripts" if name == NAME else "data/libexec/rsalab"
        files.append((f"{data_folder}/{folder}/{name}", data, runs))
    for name in licences:
        files.append((f"{info}/licenses/{name}", (arguments.bom / "licenses" / name).read_bytes(), False))
    for path in sorted((arguments.bom / "sboms").iterdir()):
        files.append((f"{info}/sboms/{path.name}", path.read_bytes(), False))
    files.append((f"{info}/METADATA", metadata(arguments, licences, project), False))
    if entry_points(project):
        files.append((f"{info}/entry_points.txt", entry_points(project).encode(), False))
    wheel = f"Wheel-Version: 1.0\nGenerator: rsalab wheel.py\nRoot-Is-Purelib: false\nTag: {tag}\n"
    files.append((f"{info}/WHEEL", wheel.encode(), False))
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    rows.writerows((name, digest(data), len(data)) for name, data, _ in files)
    rows.writerow((f"{info}/RECORD", "", ""))
    files.append((f"{info}/RECORD", record.getvalue().encode(), False))

    # The oldest date that the format has is the beginning of 1980.
    date = time.gmtime(max(int(arguments.date), 315532800))[:6]
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / f"{NAME}-{arguments.version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data, runs in files:
            entry = zipfile.ZipInfo(name, date)
            entry.create_system = 3
            entry.external_attr = (0o100755 if runs else 0o100644) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
    print(f"wheel.py: {len(programs)} files of programs, {path.stat().st_size / 1e6:.1f} MB", file=sys.stderr)
    print(path)


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def check(path):
    """Reads a wheel as an installer does, and fails where it is not what it says."""
    name, version, *tags = path.name.removesuffix(".whl").split("-")
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        files = {entry: archive.read(entry) for entry in names}
        runs = {entry.filename for entry in archive.infolist() if entry.external_attr >> 16 & 0o100}
    if len(names) != len(files):
        fail("a name stands twice")
    recorded = {row[0]: row[1:] for row in csv.reader(files[f"{info}/RECORD"].decode().splitlines())}
    if set(recorded) != set(files):
        fail(f"RECORD and archive differ: {set(recorded) ^ set(files)}")
    for entry, data in files.items():
        if entry != f"{info}/RECORD" and recorded[entry] != [digest(data), str(len(data))]:
            fail(f"{entry} is not what RECORD says")
    says = email.parser.BytesParser().parsebytes(files[f"{info}/METADATA"])
    if (says["Metadata-Version"], says["Name"], says["Version"]) != ("2.4", name, version):
        fail("the metadata is of another wheel")
    if "AND" not in says["License-Expression"]:
        fail(f"the licence expression is too short: {says['License-Expression']}")
    licences = {f"{info}/licenses/{licence}" for licence in says.get_all("License-File")}
    if licences != {entry for entry in files if entry.startswith(f"{info}/licenses/")}:
        fail("the licence files are not those that the metadata names")
    scripts = f"{name}-{version}.data/scripts/{NAME}"
    carried = [entry for entry in files if WORKER in entry and not entry.endswith(".jar")]
    workers = {pathlib.PurePath(entry).name: entry for entry in carried}
    for entry in [scripts, *workers.values()]:
        if entry not in runs:
            fail(f"{entry} is missing, or is not executable")
    programs = [(entry, data) for entry, data in files.items() if ".data/" in entry or entry.startswith(f"{NAME}/")]
    expected = platform(programs)
    wheel = email.parser.BytesParser().parsebytes(files[f"{info}/WHEEL"])
    if tags[-1] != expected or wheel.get_all("Tag") != ["-".join(tags)]:
        fail(f"the tag {wheel.get_all('Tag')} of {path.name} is not {expected}")
    sbom = json.loads(files[f"{info}/sboms/rsalab.cdx.json"])
    known = {component["bom-ref"] for component in sbom["components"]} | {sbom["metadata"]["component"]["bom-ref"]}
    named = {reference for row in sbom["dependencies"] for reference in [row["ref"], *row["dependsOn"]]}
    if not named <= known:
        fail(f"the SBOM names what it does not list: {named - known}")
    listed = {component["name"] for component in sbom["components"] if component["type"] == "application"}
    if not {NAME, *workers} <= listed:
        fail(f"the SBOM leaves out {({NAME, *workers}) - listed}")
    print(f"{path.name}: {len(files)} files, {len(workers)} workers, {len(sbom['components'])} components, as recorded")


def main():
    as_it_stands = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=as_it_stands, fromfile_prefix_chars="@")
    parser.add_argument("--check", type=pathlib.Path, metavar="WHEEL")
    for option in ("programs", "bom", "out", "module", "project"):
        parser.add_argument(f"--{option}", type=pathlib.Path)
    for option in ("version", "date", "summary", "repository", "intel", "abi"):
        parser.add_argument(f"--{option}")
    arguments = parser.parse_args()
    if arguments.check:
        return check(arguments.check)
    needed = ("programs", "bom", "out", "version", "date", "summary", "repository")
    missing = [name for name in needed if getattr(arguments, name) is None]
    if missing or len({arguments.module is None, arguments.abi is None, arguments.project is None}) > 1:
        parser.error(f"missing: {', '.join(missing) or '--module, --abi and --project go together'}")
    pack(arguments)


if __name__ == "__main__":
    main()
