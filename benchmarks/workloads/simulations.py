"""Simulations: differential equations, grids, filters over time."""

from __future__ import annotations

import jax
import jax.numpy as jnp

import graphc as gx
from benchmarks.workloads.workload import Workload


def runge_kutta(y, steps):
    """A pendulum with damping."""

    def slope(y):
        return gx.stack([y[1], -gx.sin(y[0]) - 0.1 * y[1]])

    dt = 0.01
    for _ in range(steps):
        k1 = slope(y)
        k2 = slope(y + dt / 2 * k1)
        k3 = slope(y + dt / 2 * k2)
        k4 = slope(y + dt * k3)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def runge_kutta_by_hand(y, steps):
    def slope(y):
        return jnp.stack([y[1], -jnp.sin(y[0]) - 0.1 * y[1]])

    dt = 0.01

    def step(_, y):
        k1 = slope(y)
        k2 = slope(y + dt / 2 * k1)
        k3 = slope(y + dt / 2 * k2)
        k4 = slope(y + dt * k3)
        return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    return jax.lax.fori_loop(0, steps, step, y)


def trajectory_over_time(y, steps):
    """Keeps the trajectory, and a time that a number counts."""
    t, dt, states = 0.0, 0.01, []
    for _ in range(steps):
        y = y + dt * gx.stack([y[1], gx.cos(gx.asarray(t)) - y[0]])
        t += dt
        states.append(y)
    return gx.stack(states)


def trajectory_over_time_by_hand(y, steps):
    def step(carry, _):
        y, t = carry
        y = y + 0.01 * jnp.stack([y[1], jnp.cos(t) - y[0]])
        return (y, t + 0.01), y

    return jax.lax.scan(step, (y, 0.0), None, length=steps)[1]


def adaptive_step(y, end):
    """Euler's method whose step halves and doubles by its error."""
    t, dt = gx.asarray(0.0), gx.asarray(0.1)
    while t < end:
        full = y - dt * y * y
        half = y - dt / 2 * y * y
        half = half - dt / 2 * half * half
        error = gx.max(gx.abs(half - full))
        if error < 1e-4:
            t = t + dt
            y = half
            dt = dt * 1.5
        else:
            dt = dt * 0.5
    return y, t


def adaptive_step_by_hand(y, end):
    def step(carry):
        y, t, dt = carry
        full = y - dt * y * y
        half = y - dt / 2 * y * y
        half = half - dt / 2 * half * half
        good = jnp.max(jnp.abs(half - full)) < 1e-4
        return jnp.where(good, half, y), jnp.where(good, t + dt, t), jnp.where(good, dt * 1.5, dt * 0.5)

    return jax.lax.while_loop(lambda carry: carry[1] < end, step, (y, jnp.array(0.0), jnp.array(0.1)))[:2]


def ode_gradient(y, rates, steps):
    """Through the steps of predator and prey."""
    for _ in range(steps):
        prey, hunters = y[0], y[1]
        y = y + 0.01 * gx.stack(
            [rates[0] * prey - rates[1] * prey * hunters, rates[2] * prey * hunters - rates[3] * hunters]
        )
    return gx.sum(y**2)


def ode_gradient_by_hand(y, rates, steps):
    def step(y, _):
        prey, hunters = y[0], y[1]
        slopes = [rates[0] * prey - rates[1] * prey * hunters, rates[2] * prey * hunters - rates[3] * hunters]
        return y + 0.01 * jnp.stack(slopes), None

    return jnp.sum(jax.lax.scan(step, y, None, length=steps)[0] ** 2)


def while_gradient(x, target):
    """Through a loop that runs until the value is large enough."""
    while gx.sum(x) < target:
        x = x * 1.02 + gx.sin(x) * 0.01
    return gx.sum(x**2)


def while_gradient_by_hand(x, target):
    """Bounded by 200 steps, as JAX's reverse mode needs."""

    def step(x, _):
        new = x * 1.02 + jnp.sin(x) * 0.01
        return jnp.where(jnp.sum(x) < target, new, x), None

    return jnp.sum(jax.lax.scan(step, x, None, length=200)[0] ** 2)


def n_body(places, speeds, steps):
    for _ in range(steps):
        between = places[None] - places[:, None]
        distance = gx.sqrt(gx.sum(between**2, axis=-1) + 0.01)
        speeds = speeds + 0.01 * gx.sum(between / distance[..., None] ** 3, axis=1)
        places = places + 0.01 * speeds
    return places, speeds


def n_body_by_hand(places, speeds, steps):
    def step(_, carry):
        places, speeds = carry
        between = places[None] - places[:, None]
        distance = jnp.sqrt(jnp.sum(between**2, axis=-1) + 0.01)
        speeds = speeds + 0.01 * jnp.sum(between / distance[..., None] ** 3, axis=1)
        return places + 0.01 * speeds, speeds

    return jax.lax.fori_loop(0, steps, step, (places, speeds))


def n_body_pairs(places, steps):
    """Sums the forces pair by pair."""
    n = places.shape[0]
    speeds = gx.zeros_like(places)
    for _ in range(steps):
        forces = gx.zeros_like(places)
        for i in range(n):
            for j in range(n):
                between = places[j] - places[i]
                forces[i] += between / (gx.sum(between * between) + 0.01) ** 1.5
        speeds = speeds + 0.01 * forces
        places = places + 0.01 * speeds
    return places


def n_body_pairs_by_hand(places, steps):
    n = places.shape[0]

    def pair(i, j, forces, places):
        between = places[j] - places[i]
        return forces.at[i].add(between / (jnp.sum(between * between) + 0.01) ** 1.5)

    def row(i, forces, places):
        return jax.lax.fori_loop(0, n, lambda j, forces: pair(i, j, forces, places), forces)

    def step(_, carry):
        places, speeds = carry
        forces = jax.lax.fori_loop(0, n, lambda i, forces: row(i, forces, places), jnp.zeros_like(places))
        speeds = speeds + 0.01 * forces
        return places + 0.01 * speeds, speeds

    return jax.lax.fori_loop(0, steps, step, (places, jnp.zeros_like(places)))[0]


def heat_inside(u, steps):
    """A grid whose inside is assigned in each step."""
    u = gx.copy(u)
    for _ in range(steps):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return u


def heat_inside_by_hand(u, steps):
    def step(_, u):
        return u.at[1:-1, 1:-1].set(0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]))

    return jax.lax.fori_loop(0, steps, step, u)


def heat_cell_by_cell(u, sweeps):
    """Gauss-Seidel: each cell sees its neighbours' new values."""
    u = gx.copy(u)
    rows, columns = u.shape
    for _ in range(sweeps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return u


def heat_cell_by_cell_by_hand(u, sweeps):
    rows, columns = u.shape

    def cell(i, j, u):
        return u.at[i, j].set(0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]))

    def row(i, u):
        return jax.lax.fori_loop(1, columns - 1, lambda j, u: cell(i, j, u), u)

    return jax.lax.fori_loop(0, sweeps, lambda _, u: jax.lax.fori_loop(1, rows - 1, row, u), u)


def game_of_life(cells, steps):
    for _ in range(steps):
        around = sum(
            gx.roll(cells, (down, right), (0, 1))
            for down in (-1, 0, 1)
            for right in (-1, 0, 1)
            if (down, right) != (0, 0)
        )
        cells = gx.where(cells == 1, gx.where((around == 2) | (around == 3), 1, 0), gx.where(around == 3, 1, 0))
    return cells


def game_of_life_by_hand(cells, steps):
    def step(_, cells):
        shifts = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if (down, right) != (0, 0)]
        around = sum(jnp.roll(cells, shift, (0, 1)) for shift in shifts)
        return ((around == 3) | ((cells == 1) & (around == 2))).astype(cells.dtype)

    return jax.lax.fori_loop(0, steps, step, cells)


def kalman_filter(observed, move, look):
    n = move.shape[0]
    mean, spread = gx.zeros(n), gx.eye(n)
    means = gx.zeros((observed.shape[0], n))
    for t in range(observed.shape[0]):
        mean, spread = move @ mean, move @ spread @ move.T + 0.01 * gx.eye(n)
        gain = spread @ look.T @ gx.linalg.inv(look @ spread @ look.T + 0.1 * gx.eye(look.shape[0]))
        mean = mean + gain @ (observed[t] - look @ mean)
        spread = spread - gain @ look @ spread
        means[t] = mean
    return means


def kalman_filter_by_hand(observed, move, look):
    n = move.shape[0]

    def step(carry, seen):
        mean, spread = carry
        mean, spread = move @ mean, move @ spread @ move.T + 0.01 * jnp.eye(n)
        gain = spread @ look.T @ jnp.linalg.inv(look @ spread @ look.T + 0.1 * jnp.eye(look.shape[0]))
        mean = mean + gain @ (seen - look @ mean)
        return (mean, spread - gain @ look @ spread), mean

    return jax.lax.scan(step, (jnp.zeros(n), jnp.eye(n)), observed)[1]


class Spring:
    """A mass whose place, speed and number of steps are attributes."""

    def __init__(self, place):
        self.place = place
        self.speed = place * 0.0
        self.count = 0
        self.most = place

    def step(self, force):
        self.speed = 0.99 * self.speed + 0.01 * (force - self.place)
        self.place = self.place + 0.01 * self.speed
        self.most = gx.maximum(self.most, self.place)
        self.count += 1


def state_in_objects(place, forces):
    spring = Spring(place)
    for t in range(forces.shape[0]):
        spring.step(forces[t])
    return spring.place, spring.most, spring.count


def state_in_objects_by_hand(place, forces):
    def step(carry, force):
        place, speed, most, count = carry
        speed = 0.99 * speed + 0.01 * (force - place)
        place = place + 0.01 * speed
        return (place, speed, jnp.maximum(most, place), count + 1), None

    place, _, most, count = jax.lax.scan(step, (place, place * 0.0, place, jnp.int32(0)), forces)[0]
    return place, most, count


def _grid(draw, n):
    return draw.normal(n, n), 50


WORKLOADS = (
    Workload(runge_kutta, runge_kutta_by_hand, lambda draw, n: (draw.normal(2, 64), n), 1000, 4),
    Workload(trajectory_over_time, trajectory_over_time_by_hand, lambda draw, n: (draw.normal(2, 64), n), 500, 4),
    Workload(adaptive_step, adaptive_step_by_hand, lambda draw, n: (draw.uniform(n), 20.0), 500, 3),
    Workload(
        ode_gradient,
        ode_gradient_by_hand,
        lambda draw, n: (draw.uniform(2, 64), draw.uniform(4), n),
        300,
        4,
        gradient=(0, 1),
    ),
    Workload(
        while_gradient,
        while_gradient_by_hand,
        lambda draw, n: (draw.uniform(n, low=0.5), float(10 * n)),
        2000,
        3,
        gradient=(0,),
    ),
    Workload(n_body, n_body_by_hand, lambda draw, n: (draw.normal(n, 3), draw.normal(n, 3), 100), 32, 3),
    Workload(n_body_pairs, n_body_pairs_by_hand, lambda draw, n: (draw.normal(n, 3), 10), 32, 3),
    Workload(heat_inside, heat_inside_by_hand, _grid, 128, 5),
    Workload(heat_cell_by_cell, heat_cell_by_cell_by_hand, lambda draw, n: (draw.normal(n, n), 10), 64, 4),
    Workload(game_of_life, game_of_life_by_hand, lambda draw, n: (draw.integers(2, n, n), 50), 64, 5),
    Workload(
        kalman_filter,
        kalman_filter_by_hand,
        lambda draw, n: (draw.normal(n, 2), draw.normal(4, 4, scale=0.3), draw.normal(2, 4)),
        200,
        3,
    ),
    Workload(state_in_objects, state_in_objects_by_hand, lambda draw, n: (draw.normal(16), draw.normal(n, 16)), 200, 4),
)
