from ._policy import check as check
from ._policy import headers_folder as headers_folder
from ._policy import is_good as is_good
from ._policy import new as new
