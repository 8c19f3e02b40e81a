"""Scenarios: read from TOML, written as TOML, filled in by the engine, and made from options."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, cast

from mousehole import _engine
from mousehole.base import (
    BITS,
    BUFFER,
    BYTES,
    SECONDS,
    WHOLE,
    MouseholeError,
    Options,
    Unit,
    check_buffer,
    conflict_error,
    defaults,
    field_error,
    missing_error,
    output,
    parse_texts,
    read_text,
    require_at_least,
    require_mapping,
    require_texts,
    with_unit,
)
from mousehole.engine_types import JsonValue, LinkSection, ModelParams, Scenario, TrafficSection
from mousehole.scenario import bottleneck, sizefiles
from mousehole.scenario._policy_trial import try_scenarios

SCHEMA = _engine.default_scenario()["schema"]
IN_MEMORY = "(connections in memory)"
"""Stands for the name of a file in scenarios whose traffic was given from Python."""


AT = ("down", "up", "both")
"""Where the scheme may be."""


class SharedScenario(NamedTuple):
    """What the runs of a comparison share, and the buffers that they do not share."""

    base: Scenario
    buffers: tuple[str, ...]


def make_default() -> Scenario:
    """Returns the scenario that options change if the user has none; it lacks rate, buffer and traffic."""
    return _engine.default_scenario()


def fill_in(scenario: Mapping[str, object]) -> Scenario:
    """Returns a copy of the scenario with every parameter filled in.

    Raises `MouseholeError` if the engine refuses it.
    """
    return _engine.validate(scenario)


def load(path: str | Path) -> Scenario:
    """Returns the scenario of a TOML file; relative names of traffic files start from its directory.

    So do those of rate traces. Raises `MouseholeError` for a file that cannot be read and for one that is no
    scenario.
    """
    source = Path(path)
    text = read_text(source, "the scenario")
    scenario = _engine.scenario_from_toml(text, str(source))
    if "traffic" in scenario:
        moved = sizefiles.with_moved_files(scenario["traffic"], lambda file: str(source.parent / file))
        scenario["traffic"] = moved
    return with_traces_moved(scenario, lambda file: str(source.parent / file))


def list_rate_traces(scenario: Scenario) -> tuple[Path, ...]:
    """Returns the files of the scenario's rate traces."""
    return tuple(Path(name) for name in bottleneck.name_traces(scenario).values())


def with_traces_moved(scenario: Scenario, move: Callable[[str], str]) -> Scenario:
    """Returns the scenario with each file of a rate trace replaced by what `move` returns for it."""
    link: Mapping[str, object] = scenario.get("link") or {}
    traces = {name: move(file) for name, file in bottleneck.name_traces(scenario).items()}
    return {**scenario, "link": cast("LinkSection", {**link, **traces})} if traces else scenario


def to_toml(scenario: Scenario, folder: Path) -> str:
    """Returns the scenario as TOML, with the names of traffic files and rate traces relative to `folder`.

    Raises `MouseholeError` for connections in memory.
    """
    if IN_MEMORY in scenario["traffic"].get("files", []):
        raise MouseholeError(
            "scenario: connections given from Python cannot be saved; write them to a file first"
        )
    root = folder.resolve()
    moved = sizefiles.with_moved_files(
        scenario["traffic"], lambda file: os.path.relpath(Path(file).resolve(), root)
    )
    named = with_traces_moved(scenario, lambda file: os.path.relpath(Path(file).resolve(), root))
    return _engine.scenario_to_toml({**named, "traffic": moved})


def write_toml(scenario: Scenario, place: str) -> None:
    """Writes the scenario as TOML into a file, or to standard output if the place is `-`.

    Raises `MouseholeError` for connections in memory and for a file that cannot be written.
    """
    output.write_text(place, to_toml(scenario, Path.cwd() if place == "-" else Path(place).parent))


def make_shared(start: Scenario, traffic: TrafficSection, options: Options) -> SharedScenario:
    """Returns the scenario that all runs of a comparison share, and the buffers of the grid.

    It is `start` with this traffic and these options; those of the link are applied to the bottleneck. A
    topology is filled in, as its buffer is needed for the grid. The files of rates that vary are read. Raises
    `MouseholeError` for options that are not allowed.
    """
    _check_options(options)
    buffers = None if options.buffer is None else parse_texts("buffer", _write_buffers(options.buffer))
    for buffer in buffers or ():
        check_buffer("buffer", buffer)
    base = _with_link(_with_runs(start, traffic, options), options)
    _check_rates(base)
    if "topology" not in base:
        return SharedScenario(base, buffers or parse_texts("buffer", base["link"]["buffer"]))
    first = bottleneck.with_changes(base, {"buffer": buffers[0] if buffers else None})
    try_scenarios([first])
    topology = fill_in(first)["topology"]
    return SharedScenario({**base, "topology": topology}, buffers or (topology["buffer"],))


def _check_options(options: Options) -> None:
    """Raises `MouseholeError` for options that are wrong in any scenario."""
    for field, number in (("seed", options.seed), ("overhead", options.overhead)):
        require_at_least(field, 0 if number is None else number, 0)
    if options.seed is not None and options.seed > _engine.MOST_SEED:
        raise field_error("seed", str(options.seed), WHOLE["seed"])
    if options.at is not None and options.at not in AT:
        raise field_error("at", options.at, f"one of {', '.join(AT)}")
    for field in bottleneck.EACH:
        if options.rate is not None and getattr(options, field) is not None:
            allowed = "give the rate of each direction, or one rate for both"
            raise conflict_error("rate", str(options.rate), field, allowed)
    if options.link_layer is not None and options.overhead is not None:
        allowed = "give one of them; a link layer has its own overhead"
        raise conflict_error("link.layer", options.link_layer, "overhead", allowed)


def _with_runs(start: Scenario, traffic: TrafficSection, options: Options) -> Scenario:
    """Returns the scenario with this traffic, and with the options of hosts and runs.

    A packet trace and samples over time are switched off.
    """
    hosts: dict[str, JsonValue] = {**start["tcp"]}
    hosts |= {} if options.tcp is None else {"profile": options.tcp}
    hosts |= {"ecn": True} if options.ecn else {}
    base: Scenario = {
        **start,
        "seed": start["seed"] if options.seed is None else options.seed,
        "warmup": start["warmup"] if options.warmup is None else with_unit("warmup", options.warmup, SECONDS),
        "duration": start["duration"]
        if options.duration is None
        else with_unit("duration", options.duration, SECONDS),
        "tcp": hosts,
        "traffic": with_qoo(_with_host_options(traffic, options), options.qoo),
        "trace": False,
    }
    base.pop("series", None)
    return base


def _with_link(start: Scenario, options: Options) -> Scenario:
    """Returns the scenario with the options of the link, and with the default buffer if it has none."""
    if "buffer" not in start["link"] and "topology" not in start:
        buffer = defaults.BUFFER if options.down is None else defaults.LINE_BUFFER
        start = {**start, "link": {**start["link"], "buffer": buffer}}
    base = bottleneck.with_changes(start, {
        "rate": _write_given("rate", options.rate, BITS), "down": _write_given("down", options.down, BITS),
        "up": _write_given("up", options.up, BITS), "rtt": _write_given("rtt", options.rtt, SECONDS),
        "overhead": options.overhead, "layer": options.link_layer,
        "burst": _write_given("burst", options.burst, BYTES),
        "shape": _write_given("shape", options.shape, BITS),
        "up_shape": _write_given("up_shape", options.up_shape, BITS),
        "modem_buffer": _write_given("modem_buffer", options.modem_buffer, BUFFER),
        "shape_layer": options.shape_layer,
        "ignore_trace_rtt": options.ignore_trace_rtt or None,
    })  # fmt: skip
    return base if options.at is None else {**base, "at": options.at}


def _check_rates(base: Scenario) -> None:
    """Raises `MouseholeError` for a link without a rate, or with one that cannot be read.

    Reads the files of rates that vary; a topology needs no rate here.
    """
    link = base["link"]
    if "topology" not in base and "rate" not in link and "down" not in link:
        if "up" in link:
            raise missing_error("down", "a rate together with --up, such as 20mbit")
        raise missing_error(
            "down", "the rate of the link, such as --down 20mbit --up 1mbit, or a scenario with one"
        )
    for field, given in (("link.down", link.get("down")), ("link.up", link.get("up"))):
        if given is not None:
            _engine.link_rate(field, given)


def _with_host_options(traffic: TrafficSection, options: Options) -> TrafficSection:
    """Returns the traffic with the options of hosts that are fields of it: time to think, and NQB."""
    think = _write_given("server_think", options.server_think, SECONDS)
    with_think: TrafficSection = traffic if think is None else {**traffic, "server_think": think}
    return {**with_think, "nqb": True} if options.nqb else with_think


def with_qoo(traffic: TrafficSection, profiles: str | Sequence[str] | None) -> TrafficSection:
    """Returns the traffic with these profiles of Quality of Outcome in place of its own, if any are given."""
    if profiles is None:
        return traffic
    return {**traffic, "qoo": require_texts("qoo", profiles)}


def _write_given(field: str, value: object, unit: Unit) -> str | None:
    """Returns a quantity as text with its unit, None for None; raises as `with_unit` does."""
    return None if value is None else with_unit(field, value, unit)


def _write_buffers(given: str | float | Sequence[str | float]) -> str | list[str]:
    """Returns buffers as texts with their units; a text is returned unchanged."""
    if isinstance(given, str):
        return given
    each = given if isinstance(given, Iterable) else [given]
    return [with_unit("buffer", item, BUFFER) for item in each]


def make_traffic_section(
    scenario: Scenario, payload: str | None, params: Mapping[str, object] | None
) -> TrafficSection:
    """Returns the traffic of the user's scenario with this direction of payload and these parameters.

    Raises `MouseholeError` for parameters without a model.
    """
    section: TrafficSection = {**scenario["traffic"]}
    if payload is not None:
        section["payload"] = payload
    return with_params(section, params) if params else section


def with_params(section: TrafficSection, params: Mapping[str, object]) -> TrafficSection:
    """Returns section `traffic` with these parameters over those of its model.

    Raises `MouseholeError` if it has no model.
    """
    params = require_mapping("params", params)
    if not section.get("model"):
        given = ", ".join(f"{name}={value}" for name, value in params.items())
        raise field_error("params", given, "given with one model; this traffic is none")
    return {**section, "params": cast("ModelParams", {**(section.get("params") or {}), **params})}
