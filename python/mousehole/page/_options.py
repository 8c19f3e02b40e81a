"""The options of `mousehole page`, declared once for the command line and for `measure_loads`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mousehole.base import COMPARED, LINK, RUN, defaults, option, switch

PAGE = "Page"
DEFAULT_RATE = "10mbit"
"""Rate of both directions where none is given."""


@dataclass(frozen=True, kw_only=True)
class PageOptions:
    """The page that is loaded, its link, and the number of loads."""

    down: str | None = option(None, "Rate of the download direction.", "RATE", LINK)
    up: str | None = option(None, "Rate of the upload direction.", "RATE", LINK)
    rate: str | None = option(None, f"Rate of both directions (default: {DEFAULT_RATE}).", "RATE", LINK)
    rtt: str = option("40ms", "Round-trip time without queueing.", "TIME", LINK)
    buffer: str = option(
        "100p", "Buffer in packets, bytes or bandwidth-delay products.", "50p|64kB|1bdp", LINK
    )
    http: Literal["1.1", "2", "3"] | None = option(
        None, "Version of HTTP; 2 and 3 need TLS (default: a recording's own, else 1.1).", "1.1|2|3", PAGE
    )
    bulk: int | None = option(6, "Downloads that last as long as the load.", "N", PAGE, int)
    congestion: str = option(
        "cubic", "The server's congestion control, of those that the kernel has.", "cubic|reno|bbr", PAGE
    )
    settle: str = option("8s", "Time between their start and the load.", "TIME", PAGE)
    timeout: str = option("60s", "A load that takes longer is given up and reported.", "TIME", PAGE)
    schemes: str | Sequence[str] = option(
        "droptail,red,rio-ps,s-sfd,cake", "Schemes to compare.", "NAME[,…]", COMPARED
    )
    policy: str | None = option(
        None, "Header of your own policy, which schemes may then name.", "FILE.h[,…]", COMPARED
    )
    baseline: str = option(defaults.BASELINE, "Scheme that the others are compared with.", "NAME", COMPARED)
    loads: int | None = option(20, "Loads per scheme, in rounds that mix the schemes.", "N", RUN, int)
    seed: int | None = option(1, "Seed of the order and of all random draws.", "N", RUN, int)
    predict: bool = switch("Also simulate the page, and show both side by side.", RUN)

    @property
    def rate_down(self) -> str:
        """Returns the rate of the download direction as text, such as `10mbit`."""
        return self.down or self.rate or DEFAULT_RATE

    @property
    def rates(self) -> dict[str, str | None]:
        """Returns the rates of the link by the names of their options, None for one that is not given.

        If none is given, `rate` is the default for both directions.
        """
        given = {"rate": self.rate, "down": self.down, "up": self.up}
        return {**given, "rate": DEFAULT_RATE} if given == dict.fromkeys(given) else given
