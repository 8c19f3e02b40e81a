"""Figures of recorded page loads, from which the page of `--apps web` is made.

`python -m validation.page_loads FILE.csv.gz` reads one row per object (`page`, `host_idx`, `resp_bytes`,
`size_src`; `X` marks a size that was announced and not received) and prints how many hosts a page asks, how
many bytes it gets from the one that gives most and from each other, and the Pareto II distribution with mean
and median of the latter. Without FILE it prints the same of the pages that the model loads on a fast link.
"""

import sys

import mousehole
import polars as pl

EXCLUDED = "X"


def compute_figures(rows: pl.DataFrame) -> dict[str, float]:
    """Returns the figures of page loads by name; sizes are in bytes.

    `rows` has one row for each object. Objects that were not received do not count.
    """
    received = rows.filter((pl.col("size_src") != EXCLUDED) & (pl.col("resp_bytes") > 0))
    hosts = received.group_by("page", "host_idx").agg(pl.col("resp_bytes").sum())
    ranks = pl.col("resp_bytes").rank("ordinal", descending=True).over("page")
    pages = hosts.group_by("page").agg(
        pl.len().alias("hosts"), pl.col("resp_bytes").sum(), pl.col("resp_bytes").max().alias("most")
    )
    others = hosts.filter(ranks > 1)["resp_bytes"]
    mean, median = _to_float(others.mean()), _to_float(others.median())
    return {
        "pages": pages.height,
        "objects of a page, mean": received.height / pages.height,
        "bytes of a page, mean": _to_float(pages["resp_bytes"].mean()),
        "bytes of a page, median": _to_float(pages["resp_bytes"].median()),
        "hosts of a page, mean": _to_float(pages["hosts"].mean()),
        "hosts of a page, median": _to_float(pages["hosts"].median()),
        "hosts of a page, 95th percentile": _to_float(pages["hosts"].quantile(0.95)),
        "bytes from the host that gives most, median": _to_float(pages["most"].median()),
        "bytes from each other host, mean": mean,
        "bytes from each other host, median": median,
        "shape of the Pareto II with this mean and median": find_shape(mean, median),
    }


def find_shape(mean: float, median: float) -> float:
    """Returns the shape of the Pareto II distribution with this mean and median, from 1 to 50.

    It is found by bisection. The distribution's median is mean·(shape − 1)·(2^(1 ÷ shape) − 1), which rises
    with the shape. A median out of reach gives an end of the range.
    """
    low, high = 1.0, 50.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        is_below = mean * (middle - 1) * (2 ** (1 / middle) - 1) < median
        low, high = (middle, high) if is_below else (low, middle)
    return low


def load_modelled() -> pl.DataFrame:
    """Simulates 200 users of `web` on a link of 1 Gb/s and returns their page loads, a row for each host."""
    done = mousehole.run("home", users=200, apps="web:1", down="1gbit", up="1gbit")
    return done.transfers.select(
        "page", pl.col("key").alias("host_idx"), pl.col("bytes").alias("resp_bytes"), size_src=pl.lit("T")
    )


def _to_float(value: object) -> float:
    """Returns a value of any type as a number; raises `ValueError` if its text is none."""
    return float(str(value))


def main(arguments: list[str]) -> None:
    """Prints the figures of a file, or of the model.

    Ends the program with a message for several arguments.
    """
    if len(arguments) > 1:
        raise SystemExit("python -m validation.page_loads [FILE.csv.gz]")
    rows = pl.read_csv(arguments[0], infer_schema_length=None) if arguments else load_modelled()
    for name, value in compute_figures(rows).items():
        print(f"{name}: {value:,.2f}" if value < 1000 else f"{name}: {value:,.0f}")


if __name__ == "__main__":
    main(sys.argv[1:])
