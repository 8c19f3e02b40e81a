"""Traffic as people have it: captures, logs and frames, read and summarised."""

from mousehole.inputs._replay import replay_words as replay_words
from mousehole.inputs._shipping import Received as Received
from mousehole.inputs._shipping import TrafficShipment as TrafficShipment
from mousehole.inputs._shipping import shipment_of as shipment_of
from mousehole.inputs._shipping import unpacked as unpacked
from mousehole.inputs.frames import Frame as Frame
from mousehole.inputs.frames import with_names as with_names
from mousehole.inputs.traffic import Source as Source
from mousehole.inputs.traffic import TrafficInput as TrafficInput
from mousehole.inputs.traffic import inspect as inspect
from mousehole.inputs.traffic import is_model as is_model
from mousehole.inputs.traffic import of_section as of_section
from mousehole.inputs.traffic import read as read
