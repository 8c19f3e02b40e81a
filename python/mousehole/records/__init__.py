"""One scenario, run once, with its records: `mousehole run`."""

from mousehole.records._records import Records as Records
from mousehole.records._records import run as run
from mousehole.records._records import write_frame as write_frame
