from ._columns import RecordColumns as RecordColumns
from ._columns import take_columns as take_columns
from ._records import Records as Records
from ._records import run as run
from ._records import write_frame as write_frame
from ._report import make_run_document as make_run_document
