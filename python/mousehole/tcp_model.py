"""The expected latency of one TCP transfer over a path that loses packets at random, by a formula.

Sources: Cardwell, Savage & Anderson, "Modeling TCP Latency", INFOCOM 2000 (equation numbers C-n), with the
steady state of Padhye, Firoiu, Towsley & Kurose, "Modeling TCP Throughput", SIGCOMM 1998, put together as
Guo & Matta do in "The War Between Mice and Elephants", BU-CS-2001-005, section II ("RIO-PS" below).

Every function takes scalars or arrays, which broadcast, and returns an array of float64. `p` is the
probability that a packet is lost, independently of all others, 0 ≤ p < 1. `packets` is the size of the
transfer, 0 or more; fractions are allowed, as the model has no rounds. Windows are in packets, times in
seconds, rates in packets per second. Acknowledgements are not lost, there is no handshake, nothing queues.

docs/tcp-model.md lists what the model leaves out, and where simulations differ from it.
"""

from dataclasses import dataclass
from math import inf, isinf
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mousehole.base import MouseholeError

Floats = NDArray[np.float64]
Reading = Literal["paper", "consistent"]
Form = Literal["throughput", "send rate"]

BACKOFFS = 6
"""Largest number of times that a timeout doubles (RIO-PS, equation 1; C-19)."""
DUPLICATE_ACKS = 3
"""Number of duplicate acknowledgements that signal a loss (RFC 5681, section 3.2)."""
BOUNDED_LOSS = 0.5
"""From this loss on, the exact wait for the first packet has no mean, because doubling has no limit."""
SECOND_WINDOW = 2.0
"""Window after the first acknowledgement, from an initial window of one packet."""


def _require(holds: bool, name: str, value: object, allowed: str) -> None:
    """Raises `MouseholeError` unless a condition on a value holds."""
    if not holds:
        raise MouseholeError(f"tcp_model: {name} is {value}; it must be {allowed}")


@dataclass(frozen=True)
class Path:
    """The parameters of a path and of the TCP on it; the defaults are those of RIO-PS, Figure 2."""

    rtt_s: float = 0.1
    """Round-trip time, seconds, above 0."""
    rto_s: float = 0.4
    """Retransmission timeout once there are samples, T0, seconds, above 0; RIO-PS takes 4·RTT."""
    initial_rto_s: float = 3.0
    """Retransmission timeout before any sample, ITO, seconds, above 0."""
    packets_per_ack: int = 1
    """b: 1 without, 2 with delayed acknowledgements; 1 or more."""
    max_window: float = inf
    """W_max, the receiver's window in packets, 1 or more."""

    def __post_init__(self) -> None:
        """Raises `MouseholeError` for a value out of range."""
        for name in ("rtt_s", "rto_s", "initial_rto_s"):
            _require(0 < getattr(self, name) < inf, name, getattr(self, name), "a number of seconds above 0")
        _require(self.packets_per_ack >= 1, "packets_per_ack", self.packets_per_ack, "1 or more")
        _require(self.max_window >= 1, "max_window", self.max_window, "1 packet or more")

    @property
    def growth(self) -> float:
        """Returns γ = 1 + 1/b, the factor by which slow start multiplies the window in a round trip."""
        return 1 + 1 / self.packets_per_ack


FIGURE_2 = Path()
"""RIO-PS, section II.B: RTT 0.1 s, RTO 4·RTT, ITO 3 s, every packet acknowledged, W_max ≫ 1/p."""


def latency_s(p: ArrayLike, packets: ArrayLike, path: Path = FIGURE_2, reading: Reading = "paper") -> Floats:
    """Returns the expected seconds from the first packet sent to the last acknowledgement.

    `packets` is 1 or more. "paper" is E[T_f] + E[T_r] as RIO-PS adds them up (equations 1 and 2): the first
    packet is counted twice, in T_f and again in T_r, which costs about a round trip, and E[T_f] is an
    approximation.

    "consistent" sends the first packet, with the exact wait, and then the other packets from the window its
    acknowledgement opens; it needs p < 0.5. Raises `MouseholeError` for values outside these ranges.
    """
    p, packets = _check_loss(p), _check_count("packets", packets, 1)
    if reading == "paper":
        return first_packet_approximate_s(p, path) + remaining_s(p, packets, path)
    return first_packet_s(p, path) + remaining_s(p, packets - 1, path, SECOND_WINDOW)


def first_packet_approximate_s(p: ArrayLike, path: Path = FIGURE_2) -> Floats:
    """Returns E[T_f] in seconds as printed in RIO-PS, equation 1.

    It is RTT·(1−p) + ITO·(1−p)·Σ p^(i+1)·2^i, i = 0…6. The wait after i + 1 losses is really ITO·(2^(i+1) −
    1), and the round trip is not paid with 1 − p only; `first_packet_s` is exact.
    """
    p = _check_loss(p)
    waits = np.polyval([*(2.0**i for i in range(BACKOFFS, -1, -1)), 0.0], p)
    return path.rtt_s * (1 - p) + path.initial_rto_s * (1 - p) * waits


def first_packet_s(p: ArrayLike, path: Path = FIGURE_2) -> Floats:
    """Returns the exact mean wait for the first packet's acknowledgement: RTT + ITO·p/(1−2p), in seconds.

    It is the sum of ITO·(2^k − 1) over k losses in a row, doubling without bound; of the same form as
    Cardwell's handshake (C-4). Raises `MouseholeError` unless p < 0.5.
    """
    p = _check_loss(p)
    _require(
        bool(np.all(p < BOUNDED_LOSS)), "p", float(np.max(p, initial=0.0)), "below 0.5 for the exact wait"
    )
    return path.rtt_s + path.initial_rto_s * p / (1 - 2 * p)


def remaining_s(
    p: ArrayLike, packets: ArrayLike, path: Path = FIGURE_2, initial_window: float = 1.0
) -> Floats:
    """Returns E[T_r] = E[T_ss] + E[T_loss] + E[T_ca] in seconds (RIO-PS, equation 2), with RTO known.

    It is the time for all packets; the first window is `initial_window` packets.
    """
    p, packets = _check_loss(p), _check_count("packets", packets, 0)
    in_slow_start = slow_start_packets(p, packets)
    return (
        slow_start_s(in_slow_start, path, initial_window)
        + first_loss_s(p, packets, path, initial_window)
        + avoidance_s(p, packets - in_slow_start, path)
    )


def slow_start_packets(p: ArrayLike, packets: ArrayLike) -> Floats:
    """Returns E[d_ss], the packets sent up to and with the first loss, at most all (C-5).

    Without loss it is all of them.
    """
    p, packets = _check_loss(p), _check_count("packets", packets, 0)
    some = np.where(p > 0, p, 1.0)
    before = some_loss(p, packets) * (1 - p) / some
    return np.where(p > 0, np.minimum(before + 1, packets), packets)


def slow_start_window(packets: ArrayLike, path: Path = FIGURE_2, initial_window: float = 1.0) -> Floats:
    """Returns E[W_ss], the window after `packets` packets of slow start (C-11), not limited by W_max.

    The first window is `initial_window` packets.
    """
    packets = _check_count("packets", packets, 0)
    return packets * (path.growth - 1) / path.growth + initial_window / path.growth


def slow_start_s(packets: ArrayLike, path: Path = FIGURE_2, initial_window: float = 1.0) -> Floats:
    """Returns E[T_ss], seconds of slow start for `packets` packets (C-15); the window stops at W_max.

    The first window is `initial_window` packets.
    """
    packets = _check_count("packets", packets, 0)
    growth, top = path.growth, path.max_window
    rounds = _log_to_base(packets * (growth - 1) / initial_window + 1, growth)
    if isinf(top):
        return path.rtt_s * rounds
    growing = (growth * top - initial_window) / (growth - 1)
    limited = _log_to_base(np.array(top / initial_window), growth) + 1 + (packets - growing) / top
    return path.rtt_s * np.where(slow_start_window(packets, path, initial_window) > top, limited, rounds)


def some_loss(p: ArrayLike, packets: ArrayLike) -> Floats:
    """Returns l_ss = 1 − (1−p)^d, the probability that one packet or more is lost (C-16)."""
    return -np.expm1(_check_count("packets", packets, 0) * np.log1p(-_check_loss(p)))


def first_loss_s(
    p: ArrayLike, packets: ArrayLike, path: Path = FIGURE_2, initial_window: float = 1.0
) -> Floats:
    """Returns E[T_loss], the seconds of the loss that ends slow start: timeouts or a round trip (C-20).

    It counts the probability that there is such a loss.
    """
    p, packets = _check_loss(p), _check_count("packets", packets, 0)
    window = slow_start_window(slow_start_packets(p, packets), path, initial_window)
    by_timeout = timeout_share(p, np.minimum(window, path.max_window))
    cost = by_timeout * timeouts_s(p, path) + (1 - by_timeout) * path.rtt_s
    return some_loss(p, packets) * cost


def timeout_share(p: ArrayLike, window: ArrayLike) -> Floats:
    """Returns Q(p, w), the probability that a loss in a window of w packets ends in a timeout (C-17).

    It is 1 for windows of at most `DUPLICATE_ACKS` packets, and the limit p → 0 without loss.
    """
    p, window = np.broadcast_arrays(_check_loss(p), _check_count("window", window, 0))
    kept, some = np.log1p(-p), p > 0
    beyond = np.maximum(window - DUPLICATE_ACKS, 0)
    numerator = (1 + np.exp(DUPLICATE_ACKS * kept) * -np.expm1(beyond * kept)) * -np.expm1(
        DUPLICATE_ACKS * kept
    )
    denominator = np.where(some & (window > 0), -np.expm1(window * kept), 1.0)
    # Without loss, the limit for p → 0: the loss is one of the last three of the window.
    limit = DUPLICATE_ACKS / np.maximum(window, DUPLICATE_ACKS)
    share = np.where(some, numerator / denominator, limit)
    return np.where(window <= DUPLICATE_ACKS, 1.0, np.minimum(share, 1.0))


def backoff_factor(p: ArrayLike) -> Floats:
    """Returns G(p) = 1 + p + 2p² + 4p³ + … + 32p⁶, by which doubling lengthens a timeout (C-19)."""
    p = _check_loss(p)
    return np.asarray(1 + sum(2 ** (i - 1) * p**i for i in range(1, BACKOFFS + 1)), np.float64)


def timeouts_s(p: ArrayLike, path: Path = FIGURE_2) -> Floats:
    """Returns E[Z^TO], the mean length of a run of timeouts: G(p)·T0/(1−p) (C-18)."""
    p = _check_loss(p)
    return backoff_factor(p) * path.rto_s / (1 - p)


def avoidance_s(p: ArrayLike, packets: ArrayLike, path: Path = FIGURE_2) -> Floats:
    """Returns E[T_ca], seconds for the packets after the first loss, all at the steady rate (C-24)."""
    p, packets = _check_loss(p), _check_count("packets", packets, 0)
    left = (p > 0) & (packets > 0)
    rate = steady_rate(np.where(left, p, BOUNDED_LOSS), path)
    return np.where(left, packets / rate, 0.0)


def steady_window(p: ArrayLike, path: Path = FIGURE_2) -> Floats:
    """Returns W(p), the mean window at the end of a cycle of congestion avoidance (C-23), 0 < p < 1.

    It is in packets and not limited by W_max. Raises `MouseholeError` for p = 0.
    """
    p, b = _check_positive_loss("the steady window", p), path.packets_per_ack
    half = (2 + b) / (3 * b)
    return np.asarray(half + np.sqrt(8 * (1 - p) / (3 * b * p) + half**2), np.float64)


def steady_rate(p: ArrayLike, path: Path = FIGURE_2, form: Form = "throughput") -> Floats:
    """Returns R(p), packets per second in the steady state, 0 < p < 1.

    "throughput" counts what arrives (C-22, the form Cardwell's chain uses); "send rate" counts what is sent,
    B(p) of Padhye et al. 1998, which RIO-PS cites: a twelfth more at p = 0.01, a quarter at p = 0.1. Raises
    `MouseholeError` for p = 0.
    """
    p = _check_positive_loss("the steady rate", p)
    window, b, top = steady_window(p, path), path.packets_per_ack, path.max_window
    limited = window >= top
    window = np.minimum(window, top)
    by_timeout = timeout_share(p, window)
    between = (1 - p) / p
    if form == "throughput":
        sent = between + window / 2 + by_timeout
    else:
        sent = between + window + by_timeout / (1 - p)
    rounds = np.where(limited, b * window / 8 + between / window + 2, b * window / 2 + 1)
    return sent / (path.rtt_s * rounds + by_timeout * timeouts_s(p, path))


def _log_to_base(values: Floats, base: float) -> Floats:
    """Returns logarithms of positive values to a base above 1."""
    return np.asarray(np.log(values) / np.log(base), np.float64)


def _check_loss(p: ArrayLike) -> Floats:
    """Returns probabilities as an array; raises `MouseholeError` outside 0 ≤ p < 1."""
    values = np.asarray(p, np.float64)
    _require_all((values >= 0) & (values < 1), "p", values, "a probability, 0 or more and below 1")
    return values


def _check_positive_loss(what: str, p: ArrayLike) -> Floats:
    """Returns probabilities as an array; raises `MouseholeError` outside 0 < p < 1."""
    values = _check_loss(p)
    _require_all(values > 0, "p", values, f"above 0, as without loss {what} is not defined")
    return values


def _check_count(name: str, packets: ArrayLike, least: float) -> Floats:
    """Returns counts as an array; raises `MouseholeError` for infinite ones and those below `least`."""
    values = np.asarray(packets, np.float64)
    _require_all((values >= least) & (values < inf), name, values, f"a finite number, {least:g} or more")
    return values


def _require_all(holds: NDArray[np.bool_], name: str, values: Floats, allowed: str) -> None:
    """Raises `MouseholeError` for the first value for which a condition does not hold."""
    if not np.all(holds):
        _require(False, name, float(values[~holds][0]), allowed)
