import os
from pathlib import Path

import pytest
from mousehole.base import MouseholeError, check_outputs, check_suffix, write_text, write_with


def test_replace_atomically__puts_the_whole_file_in_place(tmp_path: Path) -> None:
    write_text(str(tmp_path / "a.json"), "one\n")
    write_text(str(tmp_path / "a.json"), "two\n")
    assert (tmp_path / "a.json").read_text() == "two\n"
    assert list(tmp_path.iterdir()) == [tmp_path / "a.json"]


def test_replace_atomically__leaves_the_old_file_when_it_fails(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    target.write_text("old")

    def fail_half_way(part: Path) -> None:
        part.write_text("half")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_with(target, fail_half_way)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_replace_atomically__keeps_the_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_text(str(tmp_path / "link"), "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_replace_atomically__writes_into_a_device() -> None:
    write_text(os.devnull, "gone")
    assert not Path(os.devnull).is_file()


def test_check_outputs__refuses(tmp_path: Path) -> None:
    source = tmp_path / "in.log"
    source.write_text("x")
    for outputs, problem in [
        ({"--json": str(tmp_path / "no" / "a.json")}, "does not exist"),
        ({"--json": str(tmp_path)}, "is a directory"),
        ({"--json": str(tmp_path / "a"), "--plot": str(tmp_path / "a")}, "is also the file of --json"),
        ({"--json": str(source)}, "is also an input file"),
    ]:
        with pytest.raises(MouseholeError, match=problem):
            check_outputs(dict(outputs), [source])
    check_outputs({"--json": "-", "--plot": None, "--save-scenario": str(tmp_path / "s.toml")}, [source])


def test_check_suffix__names_what_is_allowed() -> None:
    check_suffix("--plot", "a.PNG", (".png", ".svg"))
    with pytest.raises(MouseholeError, match=r"that ends in \.png or \.svg"):
        check_suffix("--plot", "a.gif", (".png", ".svg"))
