"""The cases of docs/when-it-does-not-help.md: words, commands, columns. scripts/negatives.py runs them."""

from __future__ import annotations

from typing import Any

SOME = '"droptail,sfd(mode=coupled),pq-sfd,rio-ps,lfp,fq-codel"'

CASES: list[dict[str, Any]] = [
    {
        "title": "An idle link",
        "words": """
Where packets do not wait, nobody can be let ahead. At a tenth of the load every scheme is what drop-tail is.
""",
        "commands": (f"web:sfd --rate 10mbit --load 0.01 --buffer 100p --schemes {SOME}",),
    },
    {
        "title": "A fast link",
        "words": """
At 1 Gb/s a queue of a whole bandwidth-delay product is 20 ms, less than the handshake, and it is seldom full:
the same web traffic at 60 % of the link.
""",
        "commands": (
            f"web:sfd --rate 1gbit --rtt 20ms --load 0.6 --duration 15s --warmup 5s --schemes {SOME}",
        ),
    },
    {
        "title": "FQ-CoDel is there already, and few bulk flows",
        "words": """
A home link: pages at 30 % of 10 Mb/s beside three downloads without end. FQ-CoDel gives a flow that has sent
little the first turn, without marks and thresholds, and divides the rest evenly.
""",
        "commands": (
            "examples/negatives/few-bulk.toml --baseline fq-codel "
            '--schemes "fq-codel,droptail,sfd(mode=coupled),pq-sfd,rio-ps,lfp,cake"',
        ),
        "columns": ("short", ("downloads", "goodput_bps")),
    },
    {
        "title": "Interactive flows that last",
        "words": """
A login or a call is short in what it needs and long in what it has sent. A meter with an idle timeout of a
second takes a typist for new after every pause, and a call never; a rule that counts bytes for as long as the
connection lives demotes both for good.
""",
        "commands": (
            "examples/negatives/interactive.toml "
            '--schemes "droptail,sfd(mode=coupled),pq-sfd,ct-bytes(th=20kB),appl,fq-codel"',
        ),
        "columns": (
            ("logins", "response_mean_s"),
            ("calls", "delay_p95_s"),
            ("calls", "loss_share"),
            ("web", "response_mean_s"),
        ),
    },
    {
        "title": "Downloads in thirty pieces",
        "words": """
A download that comes as thirty connections at once looks short thirty times, and each piece has the initial
window and the green bytes of a page. First everybody is honest, then every download of at least 300 kB is cut.
""",
        "commands": tuple(
            f'examples/negatives/{name}.toml --schemes "droptail,sfd(mode=coupled),pq-sfd,rio-ps,lfp,fq-codel,cake"'
            for name in ("honest", "sharded")
        ),
        "columns": (("web", "response_mean_s"), ("downloads", "response_mean_s")),
    },
    {
        "title": "Initial windows of ten, and thresholds of four and eight",
        "words": """
TCP-DS colours by the window: green up to four segments, yellow up to eight. A sender that begins with ten is
red from its first packet. First with two segments, as TCP was when the paper was written, then with ten.
""",
        "commands": tuple(
            f'examples/negatives/initial-window-{window}.toml --schemes "droptail,tcp-ds,tcp-ds-r,sfd(mode=coupled),fq-codel"'
            for window in (2, 10)
        ),
    },
    {
        "title": "Senders that ignore loss",
        "words": """
The schemes that drop long flows first count on them to slow down. A stream at 60 % of the link that does not
only loses packets; what is left for others depends on the queue.
""",
        "commands": (
            "examples/negatives/ignores-loss.toml "
            '--schemes "droptail,sfd(mode=coupled),pq-sfd,rio-ps,lfp,fq-codel,cake"',
        ),
        "columns": ("short", "long", ("stream", "loss_share"), ("stream", "delay_p95_s")),
    },
]
