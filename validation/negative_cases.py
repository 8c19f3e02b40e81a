"""The cases of docs/when-it-does-not-help.md: words, commands, columns. negatives.py runs them."""

from __future__ import annotations

from typing import Any

SOME = '"droptail,sfd(mode=coupled),pq-sfd,rio-ps,lfp,fq-codel"'

BESIDE = '"droptail,sfd(mode=coupled),pq-sfd,rio-ps,lfp,fq-codel,cake"'

CASES: list[dict[str, Any]] = [
    {
        "title": "An idle link",
        "words": """
Where packets do not wait, no packet can be let ahead. At a load of 1 % no scheme gains 1 %.
""",
        "commands": (f"web:sfd --rate 10mbit --load 0.01 --buffer 100p --schemes {SOME}",),
    },
    {
        "title": "A fast link",
        "words": """
The same web traffic at 60 % of 1 Gb/s. The gain is real, a tenth of the time, but small: about four
milliseconds for a transfer. FQ-CoDel gains as much.
""",
        "commands": (
            f"web:sfd --rate 1gbit --rtt 20ms --load 0.6 --duration 15s --warmup 5s --schemes {SOME}",
        ),
    },
    {
        "title": "FQ-CoDel is already deployed, and bulk flows are few",
        "words": """
A home link: pages at 30 % of 10 Mb/s compete with three long-lived downloads. FQ-CoDel serves a flow that
has sent little first, without marks or thresholds. The virtual queues of SFD and RIO-PS do worse for short
transfers. Strict priority and LFP gain twelve milliseconds, and cost these few downloads nothing.
""",
        "commands": (
            "examples/negatives/few-bulk.toml --baseline fq-codel "
            '--schemes "fq-codel,droptail,sfd(mode=coupled),pq-sfd,rio-ps,lfp,cake"',
        ),
        "columns": ("short", ("downloads", "goodput_bps")),
    },
    {
        "title": "Long-lived interactive flows",
        "words": """
A login or a call needs little of the link at any time, but it sends much in the course of its life. A call
passes the threshold of SFD after a second and a half of talk, and then loses more packets than with
drop-tail. Logins gain under SFD, but far less than with FQ-CoDel. A rule that counts bytes for the whole
life of a connection delays both permanently, and loses three and a half times as many of the calls' packets.
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
First every sender is honest; then every download of at least 300 kB is split into thirty simultaneous
connections. The other users lose under every scheme, also under drop-tail. Of what it gave them before,
FQ-CoDel, which divides the link by flows, keeps half; CAKE, which divides it by hosts first, keeps all.
""",
        "commands": tuple(
            f"examples/negatives/{name}.toml --schemes {BESIDE}" for name in ("honest", "sharded")
        ),
        "columns": (("web", "response_mean_s"), ("downloads", "response_mean_s")),
    },
    {
        "title": "Initial windows of ten, and thresholds of four and eight",
        "words": """
TCP-DS colours by the window: green up to four segments, yellow up to eight. The first command uses an
initial window of two segments, as TCP had when the paper was written; the second uses ten. With ten, TCP-DS
loses half of its gain. Its randomised form loses hardly any, and SFD, which counts bytes, keeps its gain.
""",
        "commands": tuple(
            f"examples/negatives/initial-window-{window}.toml "
            '--schemes "droptail,tcp-ds,tcp-ds-r,sfd(mode=coupled),fq-codel"'
            for window in (2, 10)
        ),
    },
    {
        "title": "Senders that ignore loss",
        "words": """
A stream at 60 % of the link that does not slow down loses an eighth of its packets and continues. Short
transfers are still protected from it. Long transfers share its colour and are not protected: they take
nearly four times as long as under fair queueing.
""",
        "commands": (f"examples/negatives/ignores-loss.toml --schemes {BESIDE}",),
        "columns": ("short", "long", ("stream", "loss_share"), ("stream", "delay_p95_s")),
    },
    {
        "title": "A page and a download in one connection",
        "words": """
With HTTP/2, one connection carries everything that a user requests from a server, as one long flow. The
first command has pages alone; the second adds a download of 2 MB to each connection. In neither case is any
scheme shown to make pages faster than drop-tail. LFP makes them slower in both, FQ-CoDel and CAKE beside the
downloads.
""",
        "commands": tuple(
            f"examples/negatives/{name}.toml --schemes {BESIDE}"
            for name in ("page-alone", "page-and-download")
        ),
        "columns": (("pages", "page_mean_s"),),
    },
    {
        "title": "Misbehaving senders: 10 MB in twenty pieces",
        "words": """
One user fetches 10 MB every minute beside web traffic, first honestly, then in twenty simultaneous pieces.
Splitting pays under every scheme, including drop-tail, least under TCP-DS: the user needs two thirds of its
time under drop-tail, and half of it under SFD and CAKE. The web transfers take more than three times as long
under `ct-bytes`, twice as long under SHRED and FQ-CoDel, and a seventh longer under CAKE, which still treats
the user as one host.
""",
        "commands": tuple(
            f'examples/negatives/gaming-{name}.toml --schemes "droptail,sfd(mode=coupled),s-sfd,p-sfd,pq-sfd,'
            'rio-ps,shred,lfp,tcp-ds,pias,ct-bytes,fq-codel,cake"'
            for name in ("honest", "split")
        ),
        "columns": (("cheat", "response_mean_s"), ("web", "response_mean_s")),
    },
    {
        "title": "Misbehaving senders: a false window of one",
        "words": """
SHRED drops a sender that always claims a window of one segment last. First every sender reports its true
window; then the sender of the 10 MB reports one segment. It saves two fifths of its time, and the web
transfers lose more than SHRED had given them. An edge that reconstructs the window does not rely on what
senders report.
""",
        "commands": tuple(
            f"examples/negatives/gaming-hint-{name}.toml "
            '--schemes "droptail,shred,shred-edge|shred,sfd(mode=coupled),fq-codel"'
            for name in ("true", "low")
        ),
        "columns": (("cheat", "response_mean_s"), ("web", "response_mean_s")),
    },
    {
        "title": "A sender in 700 short pieces, and a budget",
        "words": """
First the user fetches 10 MB every minute honestly; then in 700 simultaneous pieces, each below SFD's
threshold. Most of the gain of SFD's web transfers is gone then. A budget brings it back: the `policer`
behind the marker leaves each user 5 % of the link for green packets, with a burst of 15 kB, and what exceeds
that becomes red. While all are honest it costs web transfers nothing. Under CAKE, which divides the link by
hosts, they take longer than under drop-tail. `mousehole-live` takes the same scheme.
""",
        "commands": tuple(
            f'examples/negatives/{name}.toml --schemes "droptail,sfd|multi-red(mode=coupled),'
            'sfd|policer(high_rate=5%,med_rate=100%,burst=15kB)|multi-red(mode=coupled),cake"'
            for name in ("gaming-honest", "splitter")
        ),
        "columns": (("web", "response_mean_s"), ("cheat", "response_mean_s")),
    },
    {
        "title": "A flood of small packets",
        "words": """
2,000 new flows a second of one packet of 40 B each, as a flood of SYNs is: 0.64 Mb/s of 10. First without
it, then with it, beside four downloads. Every such packet is green. Where SFD's RED counts packets, as the
paper has it, short transfers take three quarters longer than under drop-tail. In bytes, the default here,
they still take less time, but most of the gain is gone. CAKE, which serves every flow in turn, and LFP's
priorities keep theirs.
""",
        "commands": tuple(
            f"examples/negatives/{name}.toml "
            '--schemes "droptail,sfd(unit=packets),sfd,rio-ps,lfp,fq-codel,cake"'
            for name in ("no-flood", "flood")
        ),
    },
]
