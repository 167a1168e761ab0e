"""Trains and saves a classifier of digits, and continues its training in a process that lacks its source."""

import subprocess
import sys
import tempfile

import graphc as gx

OTHER_PROCESS = """
import sys
import graphc as gx
from sklearn.datasets import load_digits

saved = gx.load(sys.argv[1])
pixels, digits = load_digits(return_X_y=True)
pixels, digits = gx.asarray(pixels[1500:] / 16.0, "float32"), gx.asarray(digits[1500:], "int32")


def accuracy():
    return gx.mean(gx.argmax(saved.classify(pixels), axis=1) == digits).item()


print(f"in another process: accuracy {accuracy():.3f} on {len(digits)} other digits, {len(saved.variables)} Variables")
for _ in range(200):
    saved.train(pixels[:200], digits[:200])
print(f"trained on some of them there: accuracy {accuracy():.3f}")
"""


def train(steps):
    from sklearn.datasets import load_digits

    pixels, digits = load_digits(return_X_y=True)
    pixels, digits = gx.asarray(pixels[:1500] / 16.0, "float32"), gx.asarray(digits[:1500], "int32")
    gx.random.seed(0)
    model = gx.layers.Sequential([gx.layers.Dense(32, "relu", in_features=64), gx.layers.Dense(10, in_features=32)])
    optimizer = gx.optim.Adam(1e-2)
    optimizer.build(model.trainable_variables)

    @gx.function
    def train(x, y):
        def loss():
            return gx.losses.sparse_softmax_cross_entropy(y, model(x))

        return optimizer.minimize(loss, model)

    for _ in range(steps):
        loss = train(pixels, digits)
    print(f"{steps} steps: loss {loss.item():.3f}")
    return {"classify": model, "train": train}


if __name__ == "__main__":
    rows, labels = gx.TensorSpec((None, 64)), gx.TensorSpec((None,), "int32")
    with tempfile.TemporaryDirectory() as folder:
        gx.save(train(60), folder, {"classify": rows, "train": (rows, labels)})
        command = [sys.executable, "-c", OTHER_PROCESS, folder]
        found = subprocess.run(command, check=True, capture_output=True, text=True, timeout=100)
        print(found.stdout, end="")
