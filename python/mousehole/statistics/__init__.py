"""Statistical procedures; each function names its source, and test_statistics.py tests it on known truths."""

from mousehole.statistics.capture import capture_freedom as capture_freedom
from mousehole.statistics.capture import capture_share as capture_share
from mousehole.statistics.capture import effective_number as effective_number
from mousehole.statistics.heterogeneity import Heterogeneity as Heterogeneity
from mousehole.statistics.heterogeneity import heterogeneity as heterogeneity
from mousehole.statistics.indices import jain_index as jain_index
from mousehole.statistics.intervals import LEAST_REPLICATIONS as LEAST_REPLICATIONS
from mousehole.statistics.intervals import Design as Design
from mousehole.statistics.intervals import Estimate as Estimate
from mousehole.statistics.intervals import difference as difference
from mousehole.statistics.intervals import log_ratio as log_ratio
from mousehole.statistics.intervals import positive_interval as positive_interval
from mousehole.statistics.intervals import replications_for as replications_for
from mousehole.statistics.intervals import share_interval as share_interval
from mousehole.statistics.intervals import t_interval as t_interval
from mousehole.statistics.levels import LEVEL as LEVEL
from mousehole.statistics.levels import look_error as look_error
from mousehole.statistics.levels import look_of as look_of
from mousehole.statistics.levels import replications_of_look as replications_of_look
from mousehole.statistics.levels import simultaneous_error as simultaneous_error
from mousehole.statistics.transient import TIME_CONSTANTS as TIME_CONSTANTS
from mousehole.statistics.transient import mser as mser
from mousehole.statistics.transient import relaxation_s as relaxation_s
