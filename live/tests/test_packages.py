"""The packages: OpenWrt's files configure the guard; the .deb has the program and its unit."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import jinja2
import pytest

from validation.lab.live import find_program

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ROOT / "live" / "packages"
INIT = PACKAGES / "openwrt" / "mousehole.init"
ROLE = PACKAGES / "ansible" / "roles" / "mousehole_live"

# Replaces the functions of /etc/rc.common and /lib/functions.sh; sections are shell variables.
STUBS = """
config_load() { :; }
config_get() { eval "$1=\\${$2_$3:-$4}"; }
config_get_bool() { eval "$1=\\${$2_$3:-$4}"; }
config_foreach() { for section in $SECTIONS; do "$1" "$section"; done; }
procd_open_instance() { :; }
procd_close_instance() { :; }
procd_set_param() { echo "procd $*"; }
logger() { echo "logger $*"; }
"""


def start_service(folder: Path, **sections: dict[str, str]) -> str:
    """Runs `start_service` of the init script with these sections of /etc/config/mousehole; it must succeed.

    Returns what it prints.
    """
    values = "".join(
        f"{name}_{key}='{value}'\n" for name, options in sections.items() for key, value in options.items()
    )
    script = f"{STUBS}SECTIONS='{' '.join(sections)}'\n{values}. {INIT}\nFOLDER={folder}\nstart_service\n"
    done = subprocess.run(["sh", "-e", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def read_files(folder: Path) -> dict[str, dict[str, object]]:
    """Returns the guard's files in a folder, by device."""
    return {path.stem: tomllib.loads(path.read_text()) for path in folder.glob("*.toml")}


def test_openwrt__writes_a_file_for_each_end(tmp_path: Path) -> None:
    line = {"enabled": "1", "device": "wan", "down": "18mbit", "up": "950kbit", "link_layer": "docsis"}
    said = start_service(
        tmp_path, a=line, b={"device": "off", "up": "1mbit"}, c={"enabled": "1", "up": "1mbit"}
    )
    assert "procd command /usr/sbin/mousehole-live guard" in said
    assert "section c has no device" in said
    end = {"mode": "mark", "cake": True, "link-layer": "docsis"}
    assert read_files(tmp_path) == {
        "ifb-wan": {**end, "rate": "18mbit", "download": "wan", "user": "destination"},
        "wan": {**end, "rate": "950kbit"},
    }
    start_service(
        tmp_path, a={**line, "device": "wlx0013ef5b0a12", "shadow": "1", "marker": "sfd(th=30kB)", "up": ""}
    )
    (made,) = read_files(tmp_path).items()
    assert made[0] == "ifb-013ef5b0a12", "the name that mousehole-live gives the IFB"
    assert made[1]["shadow"] is True
    assert made[1]["scheme"] == "sfd(th=30kB)"


def test_openwrt__leaves_files_of_others(tmp_path: Path) -> None:
    other = tmp_path / "lan.toml"
    other.write_text("mode = 'mark'\n")
    start_service(tmp_path, a={"enabled": "1", "device": "wan", "up": "1mbit"})
    start_service(tmp_path)
    assert list(read_files(tmp_path)) == ["lan"]
    assert tmp_path.stat().st_mode & 0o777 == 0o700


def test_ansible__writes_what_openwrt_does(tmp_path: Path) -> None:
    line = {
        "enabled": "1",
        "device": "wlx0013ef5b0a12",
        "down": "18mbit",
        "up": "950kbit",
        "link_layer": "docsis",
    }
    start_service(tmp_path, a=line)
    written = read_files(tmp_path)
    for end, name in (("upload", line["device"]), ("download", f"ifb-{line['device'][-11:]}")):
        template = jinja2.Template((ROLE / "templates" / f"{end}.toml.j2").read_text())
        assert tomllib.loads(template.render(item=line, ansible_managed="x")) == written[name]
    assert "ifb-{{ item.device[-11:] }}.toml" in (ROLE / "tasks" / "main.yml").read_text()


def test_man_page__names_every_command() -> None:
    built = find_program()
    if built is None:
        pytest.skip("mousehole-live is not built")
    said = subprocess.run([built, "--help"], capture_output=True, text=True, check=True).stdout
    commands = re.findall(r"^  (\w+) ", said.split("Commands:")[1].split("Options:")[0], re.MULTILINE)
    page = (PACKAGES / "debian" / "mousehole-live.8").read_text()
    listed = re.findall(r"^\.TP\n\.B (\w+)$", page.split(".SH FILES")[0], re.MULTILINE)
    assert listed == commands


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with the packages of the program that was built.

    Skips the tests without the program or dpkg-deb.
    """
    built = find_program()
    if built is None or not shutil.which("dpkg-deb"):
        pytest.skip("mousehole-live is not built, or dpkg-deb is not installed")
    folder = tmp_path_factory.mktemp("packed")
    subprocess.run([ROOT / "tools" / "live-packages", folder, built], check=True, capture_output=True)
    return folder


def test_deb__is_clean_to_lintian(packed: Path) -> None:
    if not shutil.which("lintian"):
        pytest.skip("lintian is not installed")
    (deb,) = packed.glob("*.deb")
    command = ["lintian", "--allow-root", "--fail-on", "error,warning", str(deb)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_deb__has_the_program_the_unit_and_its_sum(packed: Path, tmp_path: Path) -> None:
    for line in (packed / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split()
        assert hashlib.sha256((packed / name).read_bytes()).hexdigest() == digest
    (deb,) = packed.glob("*.deb")
    subprocess.run(["dpkg-deb", "-x", deb, tmp_path / "root"], check=True)
    installed = tmp_path / "root" / "usr" / "sbin" / "mousehole-live"
    said = subprocess.run([installed, "--version"], capture_output=True, text=True, check=True).stdout
    assert said == f"mousehole-live {deb.name.split('_')[1]}\n"
    unit = (tmp_path / "root" / "lib" / "systemd" / "system" / "mousehole-live.service").read_text()
    assert "ExecStart=/usr/sbin/mousehole-live guard\n" in unit
    subprocess.run(["dpkg-deb", "-e", deb, tmp_path / "control"], check=True)
    for script in ("prerm", "postinst", "postrm"):
        subprocess.run(["sh", "-n", tmp_path / "control" / script], check=True)


def test_program_that_is_not_there__is_said_in_a_sentence(tmp_path: Path) -> None:
    words = [ROOT / "tools" / "live-packages", tmp_path, tmp_path / "none"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "`make live` builds it" in done.stderr
