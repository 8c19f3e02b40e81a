from ._comparison import DaysComparison as DaysComparison
from ._comparison import compare_days as compare_days
from ._days import Day as Day
from ._days import find_over_days as find_over_days
from ._document import DAYS_SCHEMA as DAYS_SCHEMA
