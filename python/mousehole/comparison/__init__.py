"""Compare schemes on traffic: `mousehole compare`."""

from mousehole.comparison._comparison import Comparison as Comparison
from mousehole.comparison._comparison import Prepared as Prepared
from mousehole.comparison._comparison import chosen_warmup as chosen_warmup
from mousehole.comparison._comparison import compare as compare
from mousehole.comparison._comparison import compared as compared
from mousehole.comparison._comparison import compared_with as compared_with
from mousehole.comparison._comparison import forecast as forecast
from mousehole.comparison._comparison import prepare as prepare
from mousehole.comparison._comparison import starting_point as starting_point
