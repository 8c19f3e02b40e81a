"""Every interval and p-value of the house; `answer/src/statistics` computes them and names the sources."""

from mousehole._engine import LEAST_REPLICATIONS as LEAST_REPLICATIONS
from mousehole._engine import LEVEL as LEVEL
from mousehole._engine import Design as Design
from mousehole._engine import Estimate as Estimate
from mousehole._engine import Heterogeneity as Heterogeneity
from mousehole._engine import binomial_interval as binomial_interval
from mousehole._engine import capture_freedom as capture_freedom
from mousehole._engine import capture_share as capture_share
from mousehole._engine import difference as difference
from mousehole._engine import effective_comparisons as effective_comparisons
from mousehole._engine import effective_number as effective_number
from mousehole._engine import find_look as find_look
from mousehole._engine import find_p_value as find_p_value
from mousehole._engine import heterogeneity as heterogeneity
from mousehole._engine import holm as holm
from mousehole._engine import jain_index as jain_index
from mousehole._engine import log_ratio as log_ratio
from mousehole._engine import look_error as look_error
from mousehole._engine import mser as mser
from mousehole._engine import p_beyond as p_beyond
from mousehole._engine import paired_logs as paired_logs
from mousehole._engine import positive_interval as positive_interval
from mousehole._engine import ratio_of_means as ratio_of_means
from mousehole._engine import relaxation_s as relaxation_s
from mousehole._engine import replications_for as replications_for
from mousehole._engine import replications_of_look as replications_of_look
from mousehole._engine import simultaneous_error as simultaneous_error
from mousehole._engine import smaller_in as smaller_in
from mousehole._engine import t_interval as t_interval

PLAIN = Design()
"""A single interval of 95 % over replications that draw afresh."""
