"""Examples of the special functions; SciPy has them by the same names."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from tests.compiler.ops.examples import COMPLEX, CUBE, POSITIVE, SIGNED, UNIT, Example, example, f32, i32

__all__ = ["SPECIAL_EXAMPLES"]

SHARES = f32(0.1, 0.3, 0.5, 0.9, 0.99)
NUMBERS = f32(1, 2, 3, 4, 5)


def _bessel(z: Any, v: int) -> Any:
    return special.jv(np.arange(v + 1)[:, None], z)


SPECIAL_EXAMPLES: dict[str, list[Example]] = {
    **{
        f"special.{name}": [example(POSITIVE)]
        for name in ("gamma", "gammaln", "loggamma", "gammasgn", "digamma", "spence", "exp1", "expi", "sici", "entr")
    },
    **{
        f"special.{name}": [example(SIGNED)]
        for name in ("erf", "erfc", "erfcx", "dawsn", "fresnel", "ndtr", "log_ndtr", "expit", "i0", "i0e", "i1", "i1e")
    },
    **{f"special.{name}": [example(SHARES)] for name in ("logit", "ndtri")},
    **{
        f"special.{name}": [example(POSITIVE, NUMBERS)]
        for name in ("gammainc", "gammaincc", "poch", "beta", "betaln", "rel_entr", "kl_div", "xlogy", "xlog1py")
    },
    "special.polygamma": [example(i32(1, 2, 0, 3, 1), NUMBERS)],
    "special.multigammaln": [example(f32(3, 4.5), 2)],
    "special.factorial": [example(NUMBERS)],
    "special.comb": [example(NUMBERS, f32(0, 1, 2, 2, 3)), example(NUMBERS, f32(0, 1, 2, 2, 3), repetition=True)],
    "special.betainc": [example(POSITIVE, NUMBERS, SHARES)],
    "special.zeta": [example(f32(2, 3), f32(1, 2))],
    "special.bernoulli": [example(4)],
    "special.erfinv": [example(UNIT)],
    "special.wofz": [example(COMPLEX)],
    "special.owens_t": [example(POSITIVE, SHARES)],
    "special.boxcox": [example(POSITIVE, SHARES)],
    "special.boxcox1p": [example(POSITIVE, SHARES)],
    "special.logsumexp": [example(CUBE, axis=1), example(SIGNED, b=POSITIVE)],
    "special.softmax": [example(CUBE, axis=1)],
    "special.log_softmax": [example(CUBE)],
    "special.expn": [example(i32(0, 1, 2, 3, 2), POSITIVE)],
    "special.bessel_jn": [example(f32(7, 9), v=2, expected=_bessel)],
    "special.hyp1f1": [example(f32(0.5), f32(1.5), f32(0.7))],
    "special.hyp2f1": [example(f32(0.5), f32(1.0), f32(1.5), f32(0.3))],
    "special.sph_harm_y": [
        example(
            i32(1, 2),
            i32(0, 1),
            f32(0.3, 0.7),
            f32(0.1, 0.2),
            n_max=2,
            expected=lambda *x, n_max: special.sph_harm_y(*x),
        )
    ],
}
