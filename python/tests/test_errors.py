import math

import mousehole
import pytest
from mousehole import MouseholeError, _engine
from mousehole.base import conflict_error, field_error, missing_error, unknown_error


def list_parts(error: MouseholeError) -> tuple[str | None, ...]:
    """Returns kind, field, value and allowed of an error."""
    return error.kind, error.field, error.value, error.allowed


def test_engine__errors_carry_field_value_and_what_is_allowed() -> None:
    with pytest.raises(MouseholeError) as fault:
        _engine.parse_rate("rate", "10")
    assert list_parts(fault.value)[:3] == ("value", "rate", "10")
    assert str(fault.value.allowed).startswith("a positive rate with a unit")
    assert str(fault.value) == f'rate: "10" has no unit; it must be {fault.value.allowed}'
    with pytest.raises(MouseholeError) as fault:
        _engine.scheme_parameters("spd")
    assert list_parts(fault.value)[:3] == ("unknown", "scheme", "spd")
    assert "droptail" in str(fault.value.allowed)
    with pytest.raises(MouseholeError) as fault:
        _engine.validate({"schema": "mousehole.scenario/1", "traffic": {}})
    allowed = "one of files, model or connections, or bulk or mix"
    assert list_parts(fault.value) == ("missing", "traffic", None, allowed)
    assert str(fault.value) == f"traffic: give {allowed}; none was given"


def test_engine__errors_of_files_carry_file_and_line() -> None:
    with pytest.raises(MouseholeError) as fault:
        _engine.scenario_from_toml("seed = 1\nschem = 2\n", "a.toml")
    assert (fault.value.kind, fault.value.file, fault.value.line) == ("row", "a.toml", 2)
    assert str(fault.value).startswith("a.toml:2: ")
    assert fault.value.field is None
    with pytest.raises(MouseholeError) as fault:
        _engine.read_traffic(["none.csv"])
    assert (fault.value.kind, fault.value.file, fault.value.line) == ("file", "none.csv", None)


def test_python__errors_have_the_same_sentences() -> None:
    assert str(field_error("jobs", 0, "at least 1")) == "jobs: 0 is not allowed; it must be at least 1"
    assert str(field_error("x", "a", "once", "is given twice")) == 'x: "a" is given twice; it must be once'
    assert str(missing_error("rate", "a rate")) == "rate: give a rate; none was given"
    clash = conflict_error("schemes", "red", '"red()"', "give one of them")
    assert str(clash) == 'schemes: "red" cannot be combined with "red()"; give one of them'
    assert str(unknown_error("paper", "paper", "sdf", ["lfp", "sfd"])) == (
        'paper: there is no paper "sdf"; the papers are lfp and sfd; did you mean "sfd"?'
    )
    assert list_parts(clash) == ("conflict", "schemes", "red", "give one of them")


@pytest.mark.parametrize(
    ("field", "renamed"),
    [
        ("link.rate", "--rate"), ("scheme", "--schemes"), ("scheme sfd(th)", "--schemes sfd(th)"),
        ("link.rates", "link.rates"), ("link", "link"),
    ],
)  # fmt: skip
def test_renamed__replaces_the_field_or_what_it_begins_with(field: str, renamed: str) -> None:
    error = field_error(field, "a: b", "c")
    other = error.renamed({"link.rate": "--rate", "scheme": "--schemes"})
    assert str(other) == f'{renamed}: "a: b" is not allowed; it must be c'
    assert (other.field, other.kind, other.value, other.allowed) == (renamed, "value", "a: b", "c")


def test_renamed__leaves_errors_without_a_field() -> None:
    error = MouseholeError("cannot write x", file="link.rate")
    assert error.renamed({"link.rate": "--rate"}) is error


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_model_traffic__refuses_a_parameter_that_is_not_json(value: object) -> None:
    with pytest.raises(MouseholeError) as fault:
        _engine.model_traffic("poisson", {"clients": 3, "shape": value})
    assert list_parts(fault.value)[:3] == ("value", "traffic.params.shape", str(value))
    assert "finite number" in str(fault.value.allowed)
    with pytest.raises(MouseholeError, match=r"^traffic\.params\.shape: .* is not allowed"):
        mousehole.compare("poisson", rate="3mbit", params={"shape": value})


def test_model_traffic__takes_every_kind_of_parameter() -> None:
    params = {"clients": 2, "shape": 1.5, "sizes": ""}
    drawn = _engine.model_traffic("poisson", params).frame()
    assert set(drawn["client"].tolist()) == {0, 1}
    with pytest.raises(MouseholeError, match=r"^traffic\.params: \[1\] is not allowed; it must be a table"):
        _engine.model_traffic("ftp", [1])  # type: ignore[arg-type]


def test_renamed__replaces_paths_in_what_is_allowed() -> None:
    error = field_error("link.shape_layer", "link.shape", "link.shape as well, or link.buffers")
    other = error.renamed({"link.shape_layer": "--shape-layer", "link.shape": "--shape"})
    assert str(other) == (
        '--shape-layer: "link.shape" is not allowed; it must be --shape as well, or link.buffers'
    )


def test_renamed__replaces_the_path_that_something_cannot_be_combined_with() -> None:
    sentence = '"link.burst" cannot be combined with link.burst; give link.shape'
    error = MouseholeError(sentence, field="link.down", allowed="give link.shape")
    names = {"link.down": "--down", "link.burst": "--burst", "link.shape": "--shape"}
    said = '--down: "link.burst" cannot be combined with --burst; give --shape'
    assert str(error.renamed(names)) == said
