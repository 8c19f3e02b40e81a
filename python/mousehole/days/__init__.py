"""Compare schemes over several days of traffic: `mousehole compare --days`."""

from mousehole.days._comparison import DaysComparison as DaysComparison
from mousehole.days._comparison import compare_days as compare_days
from mousehole.days._days import Day as Day
from mousehole.days._days import days_findings as days_findings
