"""The class of the frames that users get; only `_frames` imports this, once polars is known to be there."""

import importlib.util
from typing import Any

import polars as pl


class Frame(pl.DataFrame):
    """A polars frame that also becomes a pandas frame where pyarrow is not installed."""

    def to_pandas(self, **options: Any) -> Any:
        """Returns the frame as one of pandas, by way of pyarrow if it is installed, else by way of numpy.

        `options` are those of polars and need pyarrow. Raises `ModuleNotFoundError` if pandas is missing.
        """
        if importlib.util.find_spec("pandas") is None:
            raise ModuleNotFoundError(
                "to_pandas needs pandas; install it by: pip install pandas", name="pandas"
            )
        if importlib.util.find_spec("pyarrow") is not None:
            return super().to_pandas(**options)
        if options:
            raise ModuleNotFoundError(
                f"to_pandas with {', '.join(options)} needs pyarrow; install it by: pip install pyarrow",
                name="pyarrow",
            )
        import pandas as pd

        return pd.DataFrame({column.name: _to_pandas_values(column) for column in self})


def _to_pandas_values(column: pl.Series) -> Any:
    """Returns the values of a column for pandas: numbers as numpy has them, texts as objects."""
    return column.to_list() if column.dtype == pl.String else column.to_numpy()
