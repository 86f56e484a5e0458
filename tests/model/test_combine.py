import numpy as np
import pytest

from builder.model.decide import Weigher
from builder.model.training.combine import lean


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_leaning_weigher_mixes_its_own_logit_with_the_networks(share: float) -> None:
    own = Weigher(np.array([1.0, 2.0]), np.array([2.0, 0.5]), np.array([[0.4, -0.8]]), np.array([0.1]))
    x = np.array([3.0, 2.5])
    mixed = lean(own, 1, share).logits(x)[0]
    assert mixed == pytest.approx((1 - share) * own.logits(x)[0] + share * 2.5)


def test_leaning_leaves_the_weigher_it_was_given_as_it_was() -> None:
    own = Weigher(np.zeros(1), np.ones(1), np.array([[2.0]]), np.zeros(1))
    lean(own, 0, 0.5)
    assert own.weights.tolist() == [[2.0]]
