from ._records import Records as Records
from ._records import applications as applications
from ._records import run as run
from ._records import write_frame as write_frame
from ._report import run_document as run_document
