"""Simulations: fractals, automata, differential equations, random walks."""

# ruff: noqa: SIM114  the programs are as people write them at first

from __future__ import annotations

from functools import partial
from typing import Any

import graphc as gx
from graphc import Tensor
from tests.conformance import harness
from tests.conformance.harness import f as floats
from tests.conformance.harness import i as ints

program = partial(harness.program, construct="whole algorithms")

GLIDER = [[0, 1, 0, 0], [0, 0, 1, 0], [1, 1, 1, 0], [0, 0, 0, 0]]
BLOCK = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]


@program(
    "simulation/mandelbrot_point",
    inputs=[(floats(0.0), floats(0.0)), (floats(1.0), floats(1.0)), (floats(-0.75), floats(0.3))],
    python_numbers=True,
)
def mandelbrot_point(cr: Tensor, ci: Tensor) -> Any:
    zr = zi = 0.0
    for n in range(40):
        if zr * zr + zi * zi > 4.0:
            return n
        zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
    return 40


@program("simulation/mandelbrot_vectorised", inputs=[(4, 20)])
def mandelbrot_vectorised(size: int, limit: int) -> Tensor:
    x = gx.linspace(-2.0, 0.5, size)[None, :]
    y = gx.linspace(-1.0, 1.0, size)[:, None]
    zr = zi = gx.zeros((size, size))
    counts = gx.zeros((size, size), dtype="int32")
    for _ in range(limit):
        inside = zr**2 + zi**2 <= 4.0
        if not gx.any(inside):
            break
        counts = counts + gx.astype(inside, "int32")
        new_r = zr**2 - zi**2 + x
        zi = gx.where(inside, 2 * zr * zi + y, zi)
        zr = gx.where(inside, new_r, zr)
    return counts


@program("simulation/mandelbrot_image", inputs=[(3,)])
def mandelbrot_image(size: int) -> Tensor:
    """A pixel at a time."""
    image = gx.zeros((size, size), dtype="int32")
    for i, y in enumerate(gx.linspace(-1.1, 1.1, size)):
        for j, x in enumerate(gx.linspace(-1.9, 0.6, size)):
            zr, zi, n = 0.0, 0.0, 0
            while zr * zr + zi * zi <= 4 and n < 15:
                zr, zi = zr * zr - zi * zi + x, 2 * zr * zi + y
                n += 1
            image[i, j] = n
    return image


@program(
    "simulation/julia_complex", inputs=[(floats(0.3), floats(0.5)), (floats(1.5), floats(1.5))], python_numbers=True
)
def julia_complex(x: Tensor, y: Tensor) -> Any:
    z = x + 1j * y
    c = -0.4 + 0.6j
    n = 0
    while abs(z) < 2 and n < 25:
        z = z * z + c
        n += 1
    return n, abs(z)


@program("simulation/game_of_life", inputs=[(ints(GLIDER), 5), (ints(BLOCK), 5)], python_numbers=True)
def game_of_life(board: Tensor, generations: int) -> Any:
    """Ends early where the board stands still."""
    for generation in range(generations):
        neighbours = sum(
            gx.roll(board, (di, dj), axis=(0, 1)) for di in (-1, 0, 1) for dj in (-1, 0, 1) if (di, dj) != (0, 0)
        )
        new = gx.astype((neighbours == 3) | ((board == 1) & (neighbours == 2)), "int32")
        if gx.all(new == board):
            return board, generation
        board = new
    return board, generations


@program("simulation/game_of_life_cells", inputs=[(ints(GLIDER),), (ints(BLOCK),)])
def game_of_life_cells(board: Tensor) -> Tensor:
    rows, columns = board.shape
    new = gx.zeros_like(board)
    for i in range(rows):
        for j in range(columns):
            count = 0
            for di in (-1, 0, 1):
                for dj in (-1, 0, 1):
                    if di or dj:
                        count += board[(i + di) % rows, (j + dj) % columns]
            if board[i, j] == 1 and count in (2, 3):
                new[i, j] = 1
            elif board[i, j] == 0 and count == 3:
                new[i, j] = 1
    return new


@program("simulation/rule_30", inputs=[(ints(0, 0, 1, 0, 0),), (ints(1, 1, 1, 1, 1),)])
def rule_30(cells: Tensor) -> Tensor:
    rows = [cells]
    for _ in range(4):
        left, right = gx.roll(cells, 1), gx.roll(cells, -1)
        cells = left ^ (cells | right)
        rows.append(cells)
    return gx.stack(rows)


@program("simulation/langtons_ant", inputs=[(ints(6),), (ints(11),)], python_numbers=True)
def langtons_ant(steps: Tensor) -> Any:
    grid = gx.zeros((5, 5), dtype="int32")
    r, c, dr, dc = 2, 2, -1, 0
    for _ in range(steps):
        if grid[r, c] == 0:
            grid[r, c] = 1
            dr, dc = dc, -dr
        else:
            grid[r, c] = 0
            dr, dc = -dc, dr
        r, c = (r + dr) % 5, (c + dc) % 5
    return grid, (r, c)


@program("simulation/random_walk", inputs=[(1, ints(3)), (2, ints(100))], python_numbers=True)
def random_walk(seed: int, barrier: Tensor) -> Any:
    gx.random.seed(seed)
    position, steps = 0, 0
    while abs(position) < barrier and steps < 30:
        if gx.random.uniform(()) < 0.5:
            position -= 1
        else:
            position += 1
        steps += 1
    return position, steps


@program("simulation/monte_carlo_pi", inputs=[(0, ints(100)), (5, ints(20))])
def monte_carlo_pi(seed: int, n: Tensor) -> Tensor:
    gx.random.seed(seed)
    inside = 0
    for _ in range(n):
        x, y = gx.random.uniform((2,))
        if x * x + y * y <= 1:
            inside += 1
    return 4 * inside / n


@program("simulation/metropolis", inputs=[(0, floats(0.0)), (3, floats(4.0))], python_numbers=True)
def metropolis(seed: int, x: Tensor) -> Any:
    gx.random.seed(seed)
    samples = []
    accepted = 0
    for _ in range(12):
        proposal = x + gx.random.normal(())
        log_ratio = (x * x - proposal * proposal) / 2
        if log_ratio >= 0 or gx.random.uniform(()) < gx.exp(log_ratio):
            x = proposal
            accepted += 1
        samples.append(x)
    return gx.stack(samples), accepted


@program("simulation/annealing", inputs=[(1, floats(5.0)), (4, floats(-3.0))])
def annealing(seed: int, x: Tensor) -> Any:
    def energy(v: Tensor) -> Tensor:
        return v * v + 3 * gx.sin(3 * v)

    generator = gx.random.Generator(seed)
    best, temperature = x, 2.0
    while temperature > 0.1:
        candidate = x + generator.normal(())
        change = energy(candidate) - energy(x)
        if change < 0 or generator.uniform(()) < gx.exp(-change / temperature):
            x = candidate
            if energy(x) < energy(best):
                best = x
        temperature *= 0.6
    return best, energy(best)


@program(
    "simulation/heat_equation",
    inputs=[(floats(0.0, 1.0, 0.0, 0.0),), (floats(1.0, 1.0, 1.0, 1.0),)],
    gradient=True,
    python_numbers=True,
)
def heat_equation(u: Tensor) -> Any:
    for step in range(30):
        new = u.at[1:-1].set(u[1:-1] + 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2]))
        if gx.max(gx.abs(new - u)) < 1e-2:
            return new, step
        u = new
    return u, 30


@program("simulation/heat_equation_in_place", inputs=[(floats(0.0, 1.0, 0.0, 0.0),)], gradient=True)
def heat_equation_in_place(start: Tensor) -> Tensor:
    u = start * 1.0
    for _ in range(6):
        old = u * 1.0
        for i in range(1, len(u) - 1):
            u[i] = old[i] + 0.2 * (old[i + 1] - 2 * old[i] + old[i - 1])
    return u


@program(
    "simulation/n_body", inputs=[(floats([[0.0, 0.0], [1.0, 0.0]]), floats([[0.0, 0.0], [0.0, 1.0]]))], gradient=True
)
def n_body(positions: Tensor, velocities: Tensor) -> Any:
    """Leapfrog with softened gravity."""
    masses = [1.0, 0.1]
    dt = 0.05

    def acceleration(p: Tensor) -> Tensor:
        rows = []
        for i in range(len(masses)):
            total = gx.zeros(2)
            for j in range(len(masses)):
                if i == j:
                    continue
                offset = p[j] - p[i]
                total = total + masses[j] * offset / (gx.sum(offset**2) + 0.01) ** 1.5
            rows.append(total)
        return gx.stack(rows)

    a = acceleration(positions)
    for _ in range(8):
        velocities = velocities + 0.5 * dt * a
        positions = positions + dt * velocities
        a = acceleration(positions)
        velocities = velocities + 0.5 * dt * a
    return positions, velocities


@program(
    "simulation/bouncing_ball",
    inputs=[(floats(1.0), floats(0.0)), (floats(0.1), floats(3.0))],
    gradient=True,
    python_numbers=True,
)
def bouncing_ball(height: Tensor, speed: Tensor) -> Any:
    bounces = 0
    for _ in range(40):
        speed = speed - 9.81 * 0.03
        height = height + speed * 0.03
        if height < 0:
            height, speed = -height, -0.8 * speed
            bounces += 1
    return height, speed, bounces


@program("simulation/runge_kutta", inputs=[(floats(1.0), floats(0.5)), (floats(2.0), floats(0.0))], gradient=True)
def runge_kutta(y: Tensor, t: Tensor) -> Tensor:
    def f(t: Tensor, y: Tensor) -> Tensor:
        return gx.sin(t) - y

    h = 0.1
    for _ in range(10):
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        k4 = f(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += h
    return y


@program(
    "simulation/adaptive_step", inputs=[(floats(1.0), floats(1e-3)), (floats(1.0), floats(1e-5))], python_numbers=True
)
def adaptive_step(y: Tensor, tolerance: Tensor) -> Any:
    """Heun's method with Euler's as the estimate of the error."""
    t, h = 0.0, 0.5
    accepted, rejected = 0, 0
    while t < 1.0:
        if t + h > 1.0:
            h = 1.0 - t
        k1 = -2 * t * y
        k2 = -2 * (t + h) * (y + h * k1)
        error = abs(h * (k2 - k1) / 2)
        if error <= tolerance:
            t = t + h
            y = y + h * (k1 + k2) / 2
            accepted += 1
        else:
            rejected += 1
        h = h * min(2.0, max(0.3, 0.9 * (tolerance / (error + 1e-10)) ** 0.5))
        if accepted + rejected > 200:
            break
    return y, accepted, rejected


@program("simulation/lotka_volterra", inputs=[(floats(10.0), floats(5.0)), (floats(1.0), floats(1.0))], gradient=True)
def lotka_volterra(prey: Tensor, predators: Tensor) -> Any:
    history = []
    for _ in range(10):
        born, eaten = 1.1 * prey, 0.4 * prey * predators
        prey, predators = prey + 0.02 * (born - eaten), predators + 0.02 * (0.1 * eaten - 0.4 * predators)
        history.append(gx.stack([prey, predators]))
    return gx.stack(history)


@program("simulation/kalman", inputs=[(floats(1.0, 2.1, 2.9, 4.2),), (floats(5.0, 5.0, 5.0, 5.0),)], gradient=True)
def kalman(measurements: Tensor) -> Any:
    f = gx.asarray([[1.0, 1.0], [0.0, 1.0]])
    h = gx.asarray([1.0, 0.0])
    x, p = gx.zeros(2), gx.eye(2)
    estimates = []
    for z in measurements:
        x = f @ x
        p = f @ p @ f.T + 0.01 * gx.eye(2)
        gain = p @ h / (h @ p @ h + 0.1)
        x = x + gain * (z - h @ x)
        p = (gx.eye(2) - gx.outer(gain, h)) @ p
        estimates.append(x[0])
    return x, gx.stack(estimates)
