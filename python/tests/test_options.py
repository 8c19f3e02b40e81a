import mousehole
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mousehole.base import (
    MouseholeError,
    check_buffer,
    defaults,
    parse_loads,
    parse_texts,
    parse_whole,
    require_at_least,
    split_list,
)


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("droptail", ["droptail"]),
        ("droptail, red ,sfd", ["droptail", "red", "sfd"]),
        ("red,sfd(th=15kB,timeout=1s),fq-codel", ["red", "sfd(th=15kB,timeout=1s)", "fq-codel"]),
        ("a((b,c),d),e", ["a((b,c),d)", "e"]),
        ("a(b,c", ["a(b,c"]),
        ("", [""]),
    ],
)
def test_split_list__respects_parentheses(text: str, items: list[str]) -> None:
    assert split_list(text) == items


@given(st.text("ab(),", max_size=30))
def test_split_list__loses_nothing(text: str) -> None:
    assert ",".join(split_list(text)) == text


@pytest.mark.parametrize("text", ["", "red,", ",red", "red,,sfd", "red,red"])
def test_text_list__refuses(text: str) -> None:
    with pytest.raises(MouseholeError, match=r"^schemes: "):
        parse_texts("schemes", text)


def test_load_list__forms() -> None:
    assert parse_loads("load", None) == (None,)
    assert parse_loads("load", 0.5) == (0.5,)
    assert parse_loads("load", "0.5, 2") == (0.5, 2.0)
    assert parse_loads("load", [0.5, 0.9]) == (0.5, 0.9)


@pytest.mark.parametrize("value", [0, -1, 20, 2.01, float("nan"), float("inf"), "high", "0.5,0.50", "0.5,"])
def test_load_list__refuses(value: str | float) -> None:
    with pytest.raises(MouseholeError, match=r"^load: "):
        parse_loads("load", value)


def test_least__refuses_what_is_below() -> None:
    assert require_at_least("seeds", 1, 1) == 1
    with pytest.raises(MouseholeError, match="seeds: 0 is not allowed"):
        require_at_least("seeds", 0, 1)


def test_parse_whole__names_the_range() -> None:
    for text in ("9" * 23, "18446744073709551616"):
        with pytest.raises(
            MouseholeError, match=rf'"{text}" .* a whole number from 0 to 18446744073709551615$'
        ):
            parse_whole("seed", text)
    assert parse_whole("seed", "18446744073709551615") == (1 << 64) - 1
    with pytest.raises(
        MouseholeError, match=r"seeds: .* a whole number of at least 1 and of at most 18 digits"
    ):
        parse_whole("seeds", "9" * 19, 1)
    with pytest.raises(MouseholeError, match=r'"25MB" .* a whole number of bytes from 0 to 65535, without a'):
        parse_whole("overhead", "25MB")


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("99999999999999p", "1p to 1000000000p"), ("1000000001p", "1p to 1000000000p"),
        ("99999999999GB", "1500B to 1024GiB"), ("1025GiB", "1500B to 1024GiB"),
    ],
)  # fmt: skip
def test_buffer_checked__names_the_largest(text: str, most: str) -> None:
    with pytest.raises(MouseholeError, match=f'"{text}" is too large; it must be from {most}'):
        check_buffer("buffer", text)


@pytest.mark.parametrize("text", ["50p", "1000000000p", "1bdp", "64kB", "1024GiB", "0p", "x", "5 parsecs"])
def test_buffer_checked__leaves_the_rest_to_the_engine(text: str) -> None:
    assert check_buffer("buffer", text) == text


def test_parse_whole__names_what_was_typed() -> None:
    assert parse_whole("seeds", " 12 ") == 12
    assert parse_whole("seeds", None) is None
    for text in ("1.5", "x", "", "1e3", "9" * 30):
        with pytest.raises(
            MouseholeError, match=r"seeds: .* is not allowed; it must be a whole number of at least 1"
        ):
            parse_whole("seeds", text, 1)


def test_docstring__has_the_defaults_of_the_engine() -> None:
    text = mousehole.compare.__doc__ or ""
    expected = {
        "rtt": f'("{defaults.RTT}")', "buffer": f'("{defaults.BUFFER}")',
        "baseline": f'("{defaults.BASELINE}")',
        "duration": f'("{defaults.DURATION}")', "warmup": f'"{defaults.WARMUP}" with `quick`',
        "seeds": f"({defaults.REPLICATIONS}; {defaults.QUICK_REPLICATIONS} with `quick`)",
        "seed": f"({defaults.SEED})", "short`, `long": f'`short` ("{defaults.SHORT}")',
    }  # fmt: skip
    for name, words in expected.items():
        (line,) = [line for line in text.splitlines() if line.strip().startswith(f"- `{name}`:")]
        assert words in line, name
    assert f'`long` ("{defaults.LONG}")' in text


def test_defaults__are_those_of_a_run_without_options() -> None:
    found = mousehole.compare("web:sfd", rate="1mbit", schemes="sfd", duration="1s", warmup="1s", seeds=1)
    base = found.results.plan.base
    assert (base["link"]["rtt"], base["seed"]) == (defaults.RTT, defaults.SEED)
    assert found.results.plan.buffers == (defaults.BUFFER,)
    assert found.results.plan.baseline == defaults.BASELINE
    assert (found.results.plan.short_bytes, found.results.plan.long_bytes) == (15_000, 150_000)
    assert (defaults.SHORT, defaults.LONG) == ("15kB", "150kB")
