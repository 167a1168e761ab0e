"""The journal: writes are taken back, forgotten, or told since a mark."""

from typing import Any

from graphc.compiler.tracing import Cell, Journal, Region, Trace


class _Item(Cell):
    """An item of a list."""

    __slots__ = ("place",)

    def __init__(self, owner: list[Any], place: int) -> None:
        super().__init__(owner, "an item", "an assignment")
        self.place = place

    @property
    def key(self) -> tuple[Any, ...]:
        return (*super().key, self.place)

    def get(self) -> Any:
        return self.owner[self.place]

    def set(self, value: Any) -> None:
        self.owner[self.place] = value


def write(journal: Journal, items: list[Any], place: int, value: Any) -> None:
    journal.note(_Item(items, place))
    items[place] = value


def test_undone_writes_keep_what_they_left() -> None:
    journal, items = Trace("f").journal, [0, 0]
    write(journal, items, 0, 1)
    write(journal, items, 0, 2)
    journal.undo()
    assert items == [0, 0]
    assert [(write.before, write.after) for write in journal.writes.values()] == [(0, 2)]


def test_a_rollback_restores_what_was_written_before_the_mark() -> None:
    journal, items = Trace("f").journal, [0, 0]
    write(journal, items, 0, 1)
    mark = journal.mark()
    write(journal, items, 0, 2)
    write(journal, items, 1, 3)
    journal.rollback(mark)
    assert items == [1, 0]
    assert len(journal.writes) == 1


def test_what_the_trace_owns_is_noted_for_rollbacks_alone() -> None:
    journal, items = Trace("f").journal, [0]
    journal.own(items)
    mark = journal.mark()
    journal.note_own(_Item(items, 0))
    write(journal, items, 0, 1)
    assert not journal.writes
    journal.rollback(mark)
    assert items == [0]


def test_what_native_code_wrote_is_known_to_the_whole_function() -> None:
    outer, items = Trace("f"), [0]
    Region(outer, "a branch").journal.note_native(_Item(items, 0), 0)
    assert len(outer.journal.native_writes) == 1
