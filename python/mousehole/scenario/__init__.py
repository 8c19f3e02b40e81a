"""A scenario, filled and checked, with the files and own policies that it names."""

from mousehole.scenario._policy_trial import try_headers as try_headers
from mousehole.scenario._policy_trial import try_scenarios as try_scenarios
from mousehole.scenario._scenario import DEFAULT_RTT as DEFAULT_RTT
from mousehole.scenario._scenario import IN_MEMORY as IN_MEMORY
from mousehole.scenario._scenario import SharedScenario as SharedScenario
from mousehole.scenario._scenario import default as default
from mousehole.scenario._scenario import filled as filled
from mousehole.scenario._scenario import load as load
from mousehole.scenario._scenario import rate_traces as rate_traces
from mousehole.scenario._scenario import shared as shared
from mousehole.scenario._scenario import to_toml as to_toml
from mousehole.scenario._scenario import traffic_section as traffic_section
from mousehole.scenario._scenario import with_params as with_params
from mousehole.scenario._scenario import with_traces_moved as with_traces_moved
from mousehole.scenario.sizefiles import STANDARD_INPUT as STANDARD_INPUT
