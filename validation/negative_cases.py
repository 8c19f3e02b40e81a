"""The cases of docs/when-it-does-not-help.md: words, commands, columns. negatives.py runs them."""

from __future__ import annotations

from typing import Any

SOME = '"droptail,sfd(mode=coupled),pq-sfd,rio-ps,lfp,fq-codel"'

BESIDE = '"droptail,sfd(mode=coupled),pq-sfd,rio-ps,lfp,fq-codel,cake"'

CASES: list[dict[str, Any]] = [
    {
        "title": "An idle link",
        "words": """
Where packets do not wait, nobody can be let ahead. At a hundredth of the load no scheme gains a hundredth.
""",
        "commands": (f"web:sfd --rate 10mbit --load 0.01 --buffer 100p --schemes {SOME}",),
    },
    {
        "title": "A fast link",
        "words": """
The same web traffic at 60 % of 1 Gb/s. What is gained is real, a tenth of the time, and small: about four
milliseconds for a transfer; FQ-CoDel gains as much.
""",
        "commands": (
            f"web:sfd --rate 1gbit --rtt 20ms --load 0.6 --duration 15s --warmup 5s --schemes {SOME}",
        ),
    },
    {
        "title": "FQ-CoDel is there already, and few bulk flows",
        "words": """
A home link: pages at 30 % of 10 Mb/s beside three downloads without end. FQ-CoDel gives a flow that has
sent little the first turn, without marks and thresholds, and divides the rest evenly. SFD's virtual
queues do worse for both, RIO-PS's for short transfers; strict priority wins ten milliseconds and takes
a tenth of the downloads' goodput; LFP does a little better for both.
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
A login or a call is short in what it needs and long in what it has sent. A call is beyond the threshold of
SFD after a second and a half of talk and loses several times as many packets as with drop-tail, though it
waits less. Logins gain under SFD, but far less than with FQ-CoDel. A rule that counts bytes for as long as
the connection lives delays both for good.
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
A download that comes as thirty connections at once has the initial window and the green bytes of a page
thirty times over. First everybody is honest, then every download of at least 300 kB is cut. The others
pay under every scheme, under drop-tail as well; FQ-CoDel, which divides by flows, keeps a third of what
it gave them, CAKE, which divides by hosts first, all.
""",
        "commands": tuple(
            f"examples/negatives/{name}.toml --schemes {BESIDE}" for name in ("honest", "sharded")
        ),
        "columns": (("web", "response_mean_s"), ("downloads", "response_mean_s")),
    },
    {
        "title": "Initial windows of ten, and thresholds of four and eight",
        "words": """
TCP-DS colours by the window: green up to four segments, yellow up to eight. A sender that begins with ten
is red from its first packet. First with two segments, as TCP was when the paper was written, then with ten:
half of the gain is gone, hardly any of the randomised form's, and SFD, which counts bytes, keeps its own.
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
The schemes that drop long flows first count on them to slow down. A stream at 60 % of the link that does
not loses a seventh of its packets and goes on. Short transfers are shielded from it all the same; long
ones, which share its colour, are not: they take four times as long as under fair queueing, and more.
""",
        "commands": (f"examples/negatives/ignores-loss.toml --schemes {BESIDE}",),
        "columns": ("short", "long", ("stream", "loss_share"), ("stream", "delay_p95_s")),
    },
    {
        "title": "A page and a download in one connection",
        "words": """
With HTTP/2 one connection carries everything a user wants of a server. To a meter it is one long flow, and
to fair queueing one flow. First pages alone, then with a download of 2 MB in each connection. No scheme
makes pages faster than drop-tail does, in either case; most make them slower.
""",
        "commands": tuple(
            f"examples/negatives/{name}.toml --schemes {BESIDE}"
            for name in ("page-alone", "page-and-download")
        ),
        "columns": (("pages", "page_mean_s"),),
    },
    {
        "title": "Gaming: 10 MB in twenty pieces",
        "words": """
SFD (section 3.3) and SHRED (section 6) raise the question what a sender gains that splits its
transfers, and what that costs others, and do not measure it. One user fetches 10 MB every minute beside
web traffic; first honestly, then in twenty pieces at once. Splitting pays under every scheme, drop-tail
included, but for TCP-DS, where it is not clear: the cheat needs seven tenths of its time under drop-
tail, and a third of it under SFD, whose honest long flows pay most. The web pays under all of them:
under `ct-bytes` it takes nearly three times as long, under SHRED and FQ-CoDel twice, under CAKE, for
which the cheat remains one host, a ninth longer.
""",
        "commands": tuple(
            f'examples/negatives/gaming-{name}.toml --schemes "droptail,sfd(mode=coupled),s-sfd,p-sfd,pq-sfd,'
            'rio-ps,shred,lfp,tcp-ds,pias,ct-bytes,fq-codel,cake"'
            for name in ("honest", "split")
        ),
        "columns": (("cheat", "response_mean_s"), ("web", "response_mean_s")),
    },
    {
        "title": "Gaming: a window of one that is not",
        "words": """
A sender that always claims a window of one segment is the last that SHRED drops. First every sender tells
the truth, then the one of the 10 MB lies: it gains two fifths of its time, and the web loses more than SHRED
had given it. An edge that reconstructs the window from what is outstanding believes neither.
""",
        "commands": tuple(
            f"examples/negatives/gaming-hint-{name}.toml "
            '--schemes "droptail,shred,shred-edge|shred,sfd(mode=coupled),fq-codel"'
            for name in ("true", "low")
        ),
        "columns": (("cheat", "response_mean_s"), ("web", "response_mean_s")),
    },
]
