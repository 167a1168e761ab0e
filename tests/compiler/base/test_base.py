"""Errors, configuration, names and registries."""

from __future__ import annotations

import concurrent.futures
import pickle
import threading
import tracemalloc
from typing import Any

import pytest

from graphc.compiler.base import Config, Location, Registry, UniqueNames, config, errors


class TestErrors:
    @pytest.mark.parametrize(
        ("error", "builtin"),
        [
            (errors.InvalidArgumentError, ValueError),
            (errors.InvalidTypeError, TypeError),
            (errors.InvalidTypeError, ValueError),
            (errors.OutOfRangeError, IndexError),
            (errors.NotFoundError, LookupError),
            (errors.FailedPreconditionError, RuntimeError),
            (errors.DeadlineExceededError, TimeoutError),
            (errors.CancelledError, concurrent.futures.CancelledError),
            (errors.UnimplementedError, NotImplementedError),
            (errors.InternalError, RuntimeError),
            (errors.ConcretizationError, TypeError),
            (errors.LeakedTensorError, RuntimeError),
            (errors.UndefinedNameError, NameError),
            (errors.VariableCreationError, ValueError),
            (errors.VerificationError, ValueError),
            (errors.ParseError, ValueError),
            (errors.AlreadyExistsError, FileExistsError),
            (errors.PermissionDeniedError, PermissionError),
            (errors.ResourceExhaustedError, MemoryError),
            (errors.AbortedError, RuntimeError),
            (errors.UnavailableError, ConnectionError),
            (errors.DataLossError, OSError),
            (errors.UnauthenticatedError, PermissionError),
            (errors.UnknownError, RuntimeError),
        ],
    )
    def test_each_is_also_the_builtin_that_a_user_catches(
        self, error: type[Exception], builtin: type[Exception]
    ) -> None:
        assert issubclass(error, builtin)
        assert issubclass(error, errors.GraphcError)

    def test_every_error_and_warning_is_exported(self) -> None:
        classes = {
            name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)
        }
        assert classes | {"code_of", "error_of_code"} == set(errors.__all__)

    def test_every_error_has_a_status_and_takes_tensorflows_arguments(self) -> None:
        classes = [value for value in vars(errors).values() if isinstance(value, type)]
        found = [one for one in classes if issubclass(one, errors.GraphcError)]
        for one in found:
            assert 1 <= errors.code_of(one) <= 16
            assert issubclass(one, errors.error_of_code(errors.code_of(one))) or errors.code_of(one) == 2
            error = one("node", "op", "why", 3)
            assert (error.node_def, error.op, error.message, str(error)) == ("node", "op", "why", "why")
            again = pickle.loads(pickle.dumps(error))
            assert (type(again), again.message, again.op) == (one, "why", "op")
            assert (one("why").op, one("why").node_def, one().message) == (None, None, "")
        assert [errors.code_of(errors.error_of_code(code)) for code in range(1, 17)] == list(range(1, 17))
        with pytest.raises(KeyError, match="no error has the code 0; error codes are 1 to 16"):
            errors.error_of_code(0)

    def test_at_appends_the_place(self) -> None:
        error = errors.InvalidArgumentError("bad", 3)
        assert error.at(Location("nowhere.py", 4, "f")) is error
        assert error.args == ('bad\n  at File "nowhere.py", line 4, in f', 3)

    def test_at_without_a_place_changes_nothing(self) -> None:
        assert str(errors.InternalError("bad").at(None)) == "bad"


class TestConfig:
    @pytest.mark.parametrize(
        ("text", "value"), [("1", True), ("TRUE", True), ("on", True), ("0", False), ("", False), ("no", False)]
    )
    def test_reads_flags(self, monkeypatch: pytest.MonkeyPatch, text: str, value: bool) -> None:
        monkeypatch.setenv("GRAPHC_VERIFY", text)
        assert Config().verify is value

    @pytest.mark.parametrize(("text", "value"), [("4", 4), ("", None), ("many", None), ("0", None)])
    def test_reads_numbers(self, monkeypatch: pytest.MonkeyPatch, text: str, value: int | None) -> None:
        monkeypatch.setenv("GRAPHC_MAX_IN_FLIGHT", text)
        assert Config().max_in_flight == value

    @pytest.mark.parametrize(
        ("name", "value", "expected"),
        [
            ("max_in_flight", 0, "a positive int or None"),
            ("max_in_flight", True, "a positive int or None"),
            ("inter_op_threads", 1.5, "a positive int or None"),
            ("watchdog_seconds", 0, "a positive, finite number of seconds or None"),
            ("watchdog_seconds", "soon", "a positive, finite number of seconds or None"),
        ],
    )
    def test_refuses_what_is_no_bound(self, name: str, value: object, expected: str) -> None:
        with pytest.raises(errors.InvalidArgumentError, match=f"gx.config.{name}: expected {expected}, got {value!r}"):
            setattr(Config(), name, value)


class TestUniqueNames:
    def test_a_name_that_was_asked_for_is_skipped_later(self) -> None:
        names = UniqueNames()
        assert [names(wish) for wish in ("w", "w_1", "w", "w", "w_1")] == ["w", "w_1", "w_2", "w_3", "w_1_1"]

    def test_many_names_of_one_wish_take_no_memory(self) -> None:
        names = UniqueNames()
        names("w")
        tracemalloc.start()
        given = [names("w") for _ in range(2_000)][-1]
        kept = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert (given, names("w_1999"), names("w_2001"), names("w")) == ("w_2000", "w_1999_1", "w_2001", "w_2002")
        assert kept < 10_000

    def test_threads_get_different_names(self) -> None:
        names = UniqueNames()
        given: list[str] = []

        def ask() -> None:
            given.extend([names("w") for _ in range(200)])

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(given)) == len(given) == 800


class TestRegistry:
    def test_is_a_mapping(self) -> None:
        registry = Registry[int]("colour")
        assert registry.add("red", 1) == 1
        registry.add("blue", 2)
        assert dict(registry) == {"red": 1, "blue": 2}
        assert len(registry) == 2
        assert "red" in registry
        assert "green" not in registry
        assert registry.get("red") == 1

    def test_a_name_is_taken_once(self) -> None:
        registry = Registry[int]("colour")
        registry.add("red", 1)
        with pytest.raises(errors.InternalError, match="the colour 'red' is registered twice"):
            registry.add("red", 2)
        assert registry["red"] == 1

    def test_a_name_that_is_missing_is_named(self) -> None:
        with pytest.raises(errors.NotFoundError, match="there is no colour 'red' among the 0 registered"):
            Registry[int]("colour")["red"]


def test_a_setting_that_does_not_exist_is_refused() -> None:
    with pytest.raises(
        errors.InvalidArgumentError, match=r"gx\.config: there is no setting 'max_inflight'; the settings are"
    ):
        config.max_inflight = 2  # pyright: ignore[reportAttributeAccessIssue]
    assert not hasattr(Config(), "max_inflight")


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("verify", 1, "True or False"),
        ("full_traceback", "yes", "True or False"),
        ("soft_placement", None, "True or False"),
        ("check_numerics", 1, "True or False"),
        ("max_traces", 0, "a positive int"),
        ("max_unrolled_nodes", None, "a positive int"),
        ("warn_retraces", 2.5, "a positive int"),
        ("max_in_flight", 0, "a positive int or None"),
        ("inter_op_threads", "2", "a positive int or None"),
        ("watchdog_seconds", 0, "a positive, finite number of seconds or None"),
        ("default_dtype_bits", 16, "32 or 64"),
    ],
)
def test_a_value_that_a_setting_cannot_have_is_refused_with_the_line(name: str, value: Any, expected: str) -> None:
    before = getattr(config, name)
    with pytest.raises(errors.InvalidArgumentError) as caught:
        setattr(config, name, value)
    message = f"gx.config.{name}: expected {expected}, got {value!r}\n  at File"
    assert str(caught.value).startswith(message)
    assert str(caught.value).endswith("setattr(config, name, value)")
    with pytest.raises(errors.InvalidArgumentError) as caught, config.scope(**{name: value}):
        pass
    assert str(caught.value).startswith(message)
    assert "config.scope(**{name: value})" in str(caught.value)
    assert getattr(config, name) == before
