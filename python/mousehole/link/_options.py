"""The options of `mousehole link`."""

from dataclasses import dataclass

from mousehole.base import RunOptions, Way, defaults, option, repeat_option, switch

LINK, SCHEME, PROGRAMS, OUTPUT = "Link", "Scheme", "Programs", "Output"
MTU = 1500
"""Bytes of the largest packet where none is given."""
ROUNDS = defaults.LEAST_REPLICATIONS
"""Rounds of a comparison where none are given, the fewest that give intervals."""


@dataclass(frozen=True, kw_only=True)
class LinkOptions:
    """The options of `mousehole link`."""

    scenario: str | None = option(None, "Link and scheme of this scenario.", "FILE.toml", LINK)
    down: str | None = repeat_option(RunOptions, "down")
    up: str | None = repeat_option(RunOptions, "up")
    rate: str | None = option(None, "Rate of both directions.", "RATE", LINK)
    rtt: str | None = option(
        None, f"Round-trip time without queueing (default: {defaults.RTT}).", "TIME", LINK
    )
    buffer: str | None = option(
        None,
        f"Buffer in packets, bytes, time or bandwidth-delay products (default: {defaults.LINE_BUFFER} with "
        f"--down, else {defaults.BUFFER}).",
        "50p|64kB|200ms|1bdp",
        LINK,
    )
    overhead: int | None = repeat_option(RunOptions, "overhead")
    link_layer: str | None = repeat_option(RunOptions, "link_layer")
    burst: str | None = option(None, "Depth of a token bucket, as tc's tbf (default: none).", "8kB", LINK)
    loss: str | None = option(None, "Lose this share of the packets to the client on purpose.", "1%", LINK)
    mtu: int | None = option(None, f"Largest packet (default: {MTU}).", "BYTES", LINK, int)
    scheme: str | None = option(
        None, f"Scheme of the link (default: {defaults.BASELINE}).", "NAME[(…)]", SCHEME
    )
    at: Way | None = option(  # noqa: RUF009 (the call only declares)
        None, "Where it is (default: both with --down and --up, else down).", "down|up|both", SCHEME
    )
    policy: str | None = option(
        None, "Header of your own policy, which schemes may then name.", "FILE.h[,…]", SCHEME
    )
    seed: int | None = option(None, f"Seed of all random draws (default: {defaults.SEED}).", "N", SCHEME, int)
    schemes: str | None = option(
        None, "Run the command once per scheme and round, and compare.", "NAME[(…)][,…]", SCHEME
    )
    rounds: int | None = option(
        None, f"Rounds (default: {ROUNDS}); intervals need {defaults.LEAST_REPLICATIONS}.", "N", SCHEME, int
    )
    seeds: int | None = option(None, "The same as --rounds.", "N", SCHEME, int)
    baseline: str | None = option(
        None, f"Scheme that the others are compared with (default: {defaults.BASELINE}).", "NAME[(…)]", SCHEME
    )
    short: str | None = option(
        None, f"Transfers up to this size are short (default: {defaults.SHORT}).", "SIZE", SCHEME
    )
    long: str | None = option(
        None, f"Transfers above this size are long (default: {defaults.LONG}).", "SIZE", SCHEME
    )
    server: str | None = option(
        None, "Runs on the server's side, by sh; the command waits until it listens.", "COMMAND", PROGRAMS
    )
    duration: str | None = option(None, "End after this time.", "TIME", PROGRAMS)
    name: str | None = option(None, "Names that are the server's, beside server.", "NAME[,…]", PROGRAMS)
    user_namespace: bool = switch("Use a user namespace even as root.", PROGRAMS)
    json: str | None = option(None, "Results as JSON; - is standard output.", "FILE|-", OUTPUT)
    html: str | None = option(None, "Report with charts and tables, one file.", "FILE.html", OUTPUT)
    records: str | None = option(None, "Write every transfer.", "FILE.parquet|.csv", OUTPUT)
    pcapng: str | None = option(None, "Write every packet and what became of it.", "FILE", OUTPUT)
    save_scenario: str | None = option(
        None, "The recorded flows, as input for mousehole run.", "FILE.toml|-", OUTPUT
    )
    details: bool = switch("With --schemes: print all tables and size buckets.", OUTPUT)
    predict: bool = switch("Play the recorded flows in the simulator, and show both.", OUTPUT)
    quiet: bool = switch("Print no line per second.", OUTPUT)
