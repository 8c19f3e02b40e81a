"""What holds where the user leaves an option out, as texts of help and commands take it.

The engine has these values (`compare/src/options.rs`, `answer/src/sizes.rs`).
"""

from mousehole import _engine

_SCENARIO = _engine.default_scenario()

BASELINE = _engine.BASELINE
"""The scheme that the others are compared with."""
RTT = _SCENARIO["link"]["rtt"]
"""Round-trip time where neither the traffic nor the user gives one."""
BUFFER: str = _engine.BUFFER
"""Buffer of a link with one rate for both directions."""
LINE_BUFFER: str = _engine.LINE_BUFFER
"""Buffer of each direction of a line with a rate for each."""
DURATION, WARMUP = _SCENARIO["duration"], _SCENARIO["warmup"]
"""Length of the measured window, and the time before it where nothing chooses that."""
SEED = _SCENARIO["seed"]
"""Seed of all random draws."""
REPLICATIONS: int = _engine.REPLICATIONS
"""Replications of a comparison."""
QUICK_REPLICATIONS = 3
"""The same of a quick look."""
LEAST_REPLICATIONS: int = _engine.LEAST_REPLICATIONS
"""With fewer there is no interval."""
SHORT, LONG = f"{_engine.SHORT_BYTES // 1000}kB", f"{_engine.LONG_BYTES // 1000}kB"
"""Limits of short and long transfers."""
