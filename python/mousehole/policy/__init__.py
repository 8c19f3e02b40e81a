"""Own policies, made and checked: `mousehole policy` and `mousehole.policy`."""

from mousehole.policy._policy import RECORDS as RECORDS
from mousehole.policy._policy import check as check
from mousehole.policy._policy import headers_folder as headers_folder
from mousehole.policy._policy import is_good as is_good
from mousehole.policy._policy import new as new
