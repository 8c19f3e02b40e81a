"""Real programs through the emulated link: `mousehole link`."""

from mousehole.link._link import Observer as Observer
from mousehole.link._link import Played as Played
from mousehole.link._link import Programs as Programs
from mousehole.link._link import Trial as Trial
from mousehole.link._link import base_scenario as base_scenario
from mousehole.link._link import check as check
from mousehole.link._link import compare as compare
from mousehole.link._link import default_congestion as default_congestion
from mousehole.link._link import plan_rounds as plan_rounds
from mousehole.link._link import play as play
from mousehole.link._link import predict as predict
from mousehole.link._link import unlike as unlike
from mousehole.link._report import congestion_line as congestion_line
from mousehole.link._report import status_line as status_line
