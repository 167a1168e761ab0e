"""Examples of the rows of ``graphc.ops.fft``, which the tests run."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "fft.fft": """\
>>> gx.fft.fft([-2.5, 0.5, 3.0]).numpy().round(3)
array([ 1.  +0.j   , -4.25+2.165j, -4.25-2.165j], dtype=complex64)
""",
    "fft.fft2": """\
>>> gx.fft.fft2([[-5.0, -4.0], [-1.0, 0.0]])
Tensor([[-10.+0.j,  -2.+0.j],
 [ -8.+0.j,   0.+0.j]], shape=(2, 2), dtype=complex64)
""",
    "fft.fftfreq": """\
>>> gx.fft.fftfreq(5)
Tensor([ 0. ,  0.2,  0.4, -0.4, -0.2], shape=(5,), dtype=float32)
""",
    "fft.fftn": """\
>>> gx.fft.fftn(gx.arange(8.0).reshape(2, 2, 2)).shape
(2, 2, 2)
""",
    "fft.fftshift": """\
>>> gx.fft.fftshift([-2.5, 0.5, 3.0])
Tensor([ 3. , -2.5,  0.5], shape=(3,), dtype=float32)
""",
    "fft.hfft": """\
>>> gx.fft.hfft([-2.5, 0.5, 3.0])
Tensor([ 1.5, -5.5, -0.5, -5.5], shape=(4,), dtype=float32)
""",
    "fft.ifft": """\
>>> gx.fft.ifft([-2.5, 0.5, 3.0]).numpy().round(3)
array([ 0.333+0.j   , -1.417-0.722j, -1.417+0.722j], dtype=complex64)
""",
    "fft.ifft2": """\
>>> gx.fft.ifft2([[-5.0, -4.0], [-1.0, 0.0]])
Tensor([[-2.5+0.j, -0.5+0.j],
 [-2. +0.j,  0. +0.j]], shape=(2, 2), dtype=complex64)
""",
    "fft.ifftn": """\
>>> gx.fft.ifftn([[-5.0, -4.0], [-1.0, 0.0]], (2, 2), (0, 1))
Tensor([[-2.5+0.j, -0.5+0.j],
 [-2. +0.j,  0. +0.j]], shape=(2, 2), dtype=complex64)
""",
    "fft.ifftshift": """\
>>> gx.fft.ifftshift([-2.5, 0.5, 3.0])
Tensor([ 0.5,  3. , -2.5], shape=(3,), dtype=float32)
""",
    "fft.ihfft": """\
>>> gx.fft.ihfft([-2.5, 0.5, 3.0]).numpy().round(3)
array([ 0.333+0.j   , -1.417-0.722j], dtype=complex64)
""",
    "fft.irfft": """\
>>> gx.fft.irfft([-2.5, 0.5, 3.0])
Tensor([ 0.375, -1.375, -0.125, -1.375], shape=(4,), dtype=float32)
""",
    "fft.irfft2": """\
>>> gx.fft.irfft2([[-5.0, -4.0], [-1.0, 0.0]])
Tensor([[-2.5, -0.5],
 [-2. ,  0. ]], shape=(2, 2), dtype=float32)
""",
    "fft.irfftn": """\
>>> gx.fft.irfftn([[-5.0, -4.0], [-1.0, 0.0]])
Tensor([[-2.5, -0.5],
 [-2. ,  0. ]], shape=(2, 2), dtype=float32)
""",
    "fft.rfft": """\
>>> gx.fft.rfft([-2.5, 0.5, 3.0]).numpy().round(3)
array([ 1.  +0.j   , -4.25+2.165j], dtype=complex64)
""",
    "fft.rfft2": """\
>>> gx.fft.rfft2([[-5.0, -4.0], [-1.0, 0.0]])
Tensor([[-10.+0.j,  -2.+0.j],
 [ -8.+0.j,   0.+0.j]], shape=(2, 2), dtype=complex64)
""",
    "fft.rfftfreq": """\
>>> gx.fft.rfftfreq(5)
Tensor([0. , 0.2, 0.4], shape=(3,), dtype=float32)
""",
    "fft.rfftn": """\
>>> gx.fft.rfftn([[-5.0, -4.0], [-1.0, 0.0]])
Tensor([[-10.+0.j,  -2.+0.j],
 [ -8.+0.j,   0.+0.j]], shape=(2, 2), dtype=complex64)
""",
}
