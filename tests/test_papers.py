"""Every paper's folder has its parts, and prints what it computed beside the published numbers."""

import math
from pathlib import Path

import numpy as np
import pytest
from mousehole.errors import MouseholeError

from papers.sfd import cases, measures, reproduce

ROOT = Path(__file__).parents[1]
SHORT = {"warmup": "200s", "duration": "300s"}


FOLDERS = [path.parent for path in ROOT.glob("papers/*/reproduce.py")]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_folder__has_the_shape_all_share(folder: Path) -> None:
    for part in ("README.md", "published.toml", "scenarios", "figures.py"):
        assert (folder / part).exists(), f"{folder.name} lacks {part}"


def test_sfd_table_4__prints_published_beside_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cases, "QUICK", SHORT)
    monkeypatch.setattr(reproduce, "BUFFERS", ("25p",))
    assert reproduce.main(table=4, seeds=5) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "published (SFD) 42 % 27 % 32 %" in text
    assert text.count("SFD, coupled queues") >= 4
    assert "Table 4, row 2-tier, with rates of our own" in text
    assert "published (SFD) 26 % 20 % 23 %" in text
    assert "our interval" in text


def test_sfd__refuses_what_it_does_not_have() -> None:
    with pytest.raises(MouseholeError, match="table 6 is not reproduced"):
        reproduce.main(table=6)
    with pytest.raises(MouseholeError, match="give one table or figure"):
        reproduce.main()


def test_reduction__is_the_mean_over_sizes_paired_by_replication() -> None:
    def measured(scale: float) -> measures.Measured:
        means = scale * np.arange(1.0, 16.0)
        return measures.Measured(means, means / 2, 0.5, 0.01, 0.0)

    found = measures.reduction([measured(0.7)] * 5, [measured(1.0)] * 5)
    assert math.isclose(found.mean.mean, 0.3)
    assert math.isclose(found.most.mean, 0.3)
    assert math.isclose(found.std_ratio.mean, 0.7)
    halved_at_one_size = measured(1.0).mean_s.copy()
    halved_at_one_size[4] /= 2
    uneven = measures.Measured(halved_at_one_size, halved_at_one_size, 0.5, 0.01, 0.0)
    found = measures.reduction([uneven] * 5, [measured(1.0)] * 5)
    assert math.isclose(found.most.mean, 0.5)
    assert math.isclose(found.least.mean, 0.0, abs_tol=1e-12)
    assert math.isclose(found.mean.mean, 0.5 / 15)
