#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Check packaging/Containerfile, or carry out its steps in roots, without a container engine."""
import argparse
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
EXAMPLES = """\
Without --try: rules of hadolint that matter here (image tags, apt-get options, package lists removed in the same
layer, COPY for ADD, JSON form, a user other than root, stages that exist).

--try copies ROOT, a Debian root as debootstrap --variant=minbase makes it, once for each stage, and executes every
RUN, COPY, ENTRYPOINT and CMD there. It needs root and the network.

examples:
  packaging/containerfile.py
  debootstrap --variant=minbase bookworm /var/tmp/bookworm && packaging/containerfile.py --try /var/tmp/bookworm
"""


def parse(text):
    """The instructions: a list of (name, arguments)."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [tuple(line.split(None, 1)) for line in joined.splitlines()]


def check_run(command):
    """Faults of a RUN."""
    faults = []
    if "apt-get" in command:
        if "apt-get install -y --no-install-recommends" not in command:
            faults.append("apt-get install without -y --no-install-recommends (DL3014, DL3015)")
        if not command.startswith("apt-get update && "):
            faults.append("apt-get install without apt-get update before it (DL3009)")
        if not command.endswith("rm -rf /var/lib/apt/lists/*"):
            faults.append("the lists of packages stay in the layer (DL3009)")
    if re.search(r"\b(sudo|cd|curl|wget)\b", command):
        faults.append("sudo, cd or a download (DL3003, DL3004)")
    return faults


def check_copy(arguments, stages):
    """Faults of a COPY."""
    words = shlex.split(arguments)
    source = re.match(r"--from=(.*)", words[0])
    faults = [] if words[-1].startswith("/") else ["COPY to a relative folder (DL3045)"]
    return faults + ([f"no stage {source[1]} (DL3022)"] if source and source[1] not in stages else [])


def check(steps):
    """All faults."""
    faults, stages, user = [], [], ""
    for name, arguments in steps:
        if name == "FROM":
            stage = re.fullmatch(r"(\S+?):(\S+)(?: AS (\w+))?", arguments)
            if stage is None or stage[2] == "latest":
                faults.append(f"FROM {arguments}: no tag (DL3006, DL3007)")
            stages.append(stage[3] if stage else None)
            user = ""
        elif name == "RUN":
            faults += check_run(arguments)
        elif name == "COPY":
            faults += check_copy(arguments, stages)
        elif name == "USER":
            user = arguments
        elif name in ("ENTRYPOINT", "CMD"):
            faults += [] if arguments.startswith("[") else [f"{name} is not JSON (DL3025)"]
        else:
            faults.append(f"{name} is not used here")
    if user in ("", "root"):
        faults.append("the last stage runs as root (DL3002)")
    return faults if len(stages) == 2 else faults + [f"{len(stages)} stages instead of 2"]


ENTER = ["unshare", "-mpf", "--propagation", "private", "/bin/sh", "-c",
         'mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" && mount -t tmpfs -o mode=1777 tmpfs "$0/tmp" && '
         'exec chroot $userspec "$0" "$@"']


def enter(root, argv, user=""):
    """A command in a root; its output."""
    print(f"{root.name}: {argv[-1] if argv[0] == '/bin/sh' else ' '.join(argv)}", flush=True)
    env = {"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C",
           "HOME": "/", "userspec": f"--userspec={user}" if user else ""}
    result = subprocess.run([*ENTER, root, *argv], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{result.stdout}\nexit code {result.returncode}")
    return result.stdout


def copy(arguments, roots, root):
    """COPY: from the committed tree, or from the root of a stage."""
    words = shlex.split(arguments)
    target = root / words[-1].lstrip("/")
    target.mkdir(parents=True, exist_ok=True)
    if words[0].startswith("--from="):
        source = roots[words[0][len("--from="):]] / words[1].lstrip("/")
        shutil.copytree(source, target, dirs_exist_ok=True, symlinks=True)
    else:
        tree = subprocess.run(["git", "-C", SOURCE, "archive", "HEAD"], stdout=subprocess.PIPE, check=True).stdout
        subprocess.run(["tar", "-x", "-C", target], input=tree, check=True)


def try_steps(steps, base):
    """Carry out all steps; print what the container's default command prints."""
    roots, root, user, entry = {}, None, "", []
    for name, arguments in steps:
        if name == "FROM":
            stage = (arguments.split(" AS ") + ["final"])[1]
            root = roots[stage] = base.with_name(f"{base.name}-{stage}")
            shutil.rmtree(root, ignore_errors=True)
            subprocess.run(["cp", "-a", "--reflink=auto", base, root], check=True)
        elif name == "RUN":
            enter(root, ["/bin/sh", "-c", arguments])
        elif name == "COPY":
            copy(arguments, roots, root)
        elif name == "USER":
            user = arguments
        else:
            entry += json.loads(arguments)
    print(enter(root, entry, user))
    for path in roots.values():
        shutil.rmtree(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--try", dest="root", metavar="ROOT", type=pathlib.Path,
                        help="carry out the steps in copies of ROOT")
    root = parser.parse_args().root
    steps = parse((SOURCE / "packaging/Containerfile").read_text())
    faults = check(steps)
    print(f"Containerfile: {len(steps)} steps, {len(faults)} faults", *faults, sep="\n  ")
    if faults:
        sys.exit(1)
    if root is not None:
        try_steps(steps, root.resolve())


main()
