"""Takes ``match`` out of a function: it becomes a chain of ``if`` statements with the same meaning.

Values are compared where they stand: ``case 0 | None:`` becomes ``if subject == 0 or subject is None:``. A pattern that
looks into a sequence becomes an expression that asks operators for the parts of it: ``case [0, a]:`` becomes
``matched = (parts := match_sequence(subject, 2)) is not None and parts[0] == 0 and (value := parts[1]) is value``. The
names in it are bound when the whole pattern matches, before the guard is evaluated. Patterns of mappings and of classes
are refused: an ``if`` says the same.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphc.compiler.autograph.frontend.emit import assign, constant, load, located, not_, operator, store
from graphc.compiler.autograph.frontend.rewriting import Block, ConversionUnit, StatementRewriter, if_
from graphc.compiler.autograph.frontend.scopes import NameEffects, NameTable


class Tests(ast.BoolOp):
    """Tests of truth values in Python's ``and`` or ``or``; only later ones read what one binds: it counts as bound."""


def remove_matches(body: Block, unit: ConversionUnit) -> Block:
    """Rewrites the body of one function without ``match`` statements."""
    return _Remover(unit).block(body)


def _captures(pattern: ast.pattern) -> Iterator[str]:
    """Yields the names that a pattern binds; every alternative of ``|`` binds the same."""
    if isinstance(pattern, ast.MatchOr):
        yield from _captures(pattern.patterns[0])
        return
    for part in ast.iter_child_nodes(pattern):
        if isinstance(part, ast.pattern):
            yield from _captures(part)
    name = getattr(pattern, "name", None)
    if name is not None:
        yield name


@dataclass
class _Test:
    """The test of a pattern."""

    before: Block
    holds: ast.expr
    bound: Sequence[tuple[str, str]]  # the names that the pattern binds, and what they are bound to

    def bind(self, leave: Collection[str] = ()) -> Block:
        """Statements that bind the names."""
        return [assign(name, load(value), self.holds) for name, value in self.bound if name not in leave]


class _Remover(StatementRewriter):
    def _visit_match(self, node: ast.Match) -> Block:
        subject = self.unit.fresh("subject")
        self.generic_visit(node)
        return [assign(subject, node.subject, node.subject), *self._cases(subject, node.cases)]

    def _cases(self, subject: str, cases: Sequence[ast.match_case]) -> Block:
        """Returns the statements for some cases of a ``match``: a case, and in its ``else`` branch those after it."""
        if not cases:
            return []
        case, others = cases[0], cases[1:]
        if isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None:
            return self._always(subject, case.pattern, case, others)
        test = self._test(subject, case.pattern)
        guard, pattern = case.guard, case.pattern
        names = NameEffects() if guard is None else NameTable().of(guard)
        if guard is not None and (test.bound or names.assigned):
            return self._guarded(subject, test, guard, names, case, others)
        holds = test.holds if guard is None else ast.BoolOp(op=ast.And(), values=[test.holds, guard])
        body = [*test.bind(), *case.body]
        return [*test.before, if_(located(holds, pattern), body, self._cases(subject, others), pattern)]

    def _always(
        self, subject: str, pattern: ast.MatchAs, case: ast.match_case, others: Sequence[ast.match_case]
    ) -> Block:
        """Returns the statements for a pattern that matches everything, and for the cases after it."""
        # Without a statement there would be no place for a breakpoint.
        name = pattern.name
        first = located(ast.Pass(), pattern) if name is None else assign(name, load(subject), pattern)
        if case.guard is None:
            return [first, *case.body]
        return [first, if_(case.guard, case.body, self._cases(subject, others), case.guard)]

    def _guarded(
        self, subject: str, test: _Test, guard: ast.expr, names: NameEffects, case: ast.match_case,
        others: Sequence[ast.match_case],
    ) -> Block:  # fmt: skip
        """Returns the statements for a guard that needs names of the pattern, or binds names itself."""
        if not isinstance(test.holds, ast.Name):
            flag = self.unit.fresh("matched")
            test = _Test([assign(flag, test.holds, case.pattern)], located(load(flag), case.pattern), test.bound)
        assert isinstance(test.holds, ast.Name)
        refused = if_(located(not_(guard), guard), [assign(test.holds.id, constant(False), guard)], [], guard)
        # The names are bound once more where the case is chosen: where tensors decide, only the branch that binds a
        # name has it for certain.
        saved = [(name, self.unit.fresh("value")) for name in sorted(names.binds)]
        keep = [assign(value, load(name), guard) for name, value in saved]
        again = [assign(name, load(value), guard) for name, value in saved]
        chosen = [*test.bind(names.assigned), *again, *case.body]
        return [
            *test.before,
            if_(test.holds, [*test.bind(), refused, *keep], [], case.pattern),
            if_(test.holds, chosen, self._cases(subject, others), case.pattern),
        ]

    def _test(self, subject: str, pattern: ast.pattern) -> _Test:
        inner = pattern.pattern if isinstance(pattern, ast.MatchAs) else None
        names = tuple(dict.fromkeys(_captures(pattern)))
        comparison = self._comparison(subject, inner or pattern)
        if comparison is not None:
            return _Test([], comparison, [(name, subject) for name in names])
        values = {name: self.unit.fresh(name.strip("_") or "value") for name in names}
        flag = self.unit.fresh("matched")
        before: Block = [assign(value, constant(None), pattern) for value in values.values()]
        before.append(assign(flag, self._matches(load(subject), pattern, values), pattern))
        return _Test(before, located(load(flag), pattern), [*values.items()])

    def _matches(self, subject: ast.expr, pattern: ast.pattern, values: Mapping[str, str]) -> ast.expr:
        """Returns the test of a pattern, which binds what its names stand for."""
        # subject: what is matched; evaluated once, unless it is a name.
        # values: by the names in it, the names of ours that their values are bound to.
        match pattern:
            case ast.MatchValue():
                tests = [operator("matched", ast.Compare(left=subject, ops=[ast.Eq()], comparators=[pattern.value]))]
            case ast.MatchSingleton():
                same = ast.Compare(left=subject, ops=[ast.Is()], comparators=[ast.Constant(value=pattern.value)])
                tests = [operator("matched", same)]
            case ast.MatchStar() | ast.MatchAs(pattern=None):
                tests = [] if pattern.name is None else [_bound(values[pattern.name], subject)]
            case ast.MatchAs():
                assert pattern.name is not None
                assert pattern.pattern is not None
                value = values[pattern.name]
                tests = [_bound(value, subject), self._matches(load(value), pattern.pattern, values)]
            case ast.MatchOr():
                tests, name = self._named(subject)
                tries = [self._matches(load(name), part, values) for part in pattern.patterns]
                tests.append(Tests(op=ast.Or(), values=tries))
            case ast.MatchSequence():
                tests = self._sequence(subject, pattern, values)
            case ast.MatchMapping():
                raise self.unit.refuse(
                    pattern,
                    "A mapping pattern is not compiled. Write an `if`: "
                    '`if isinstance(x, dict) and "key" in x and x["key"] == 0:`.',
                )
            case ast.MatchClass():
                raise self.unit.refuse(
                    pattern, "A class pattern is not compiled. Write an `if`: `if isinstance(x, Point) and x.y == 0:`."
                )
            case _:
                raise AssertionError(pattern)
        return located(_all(tests), pattern)

    def _named(self, subject: ast.expr) -> tuple[list[ast.expr], str]:
        """Returns the name of a subject that is asked for more than once, and the test that binds it."""
        if isinstance(subject, ast.Name):
            return [], subject.id
        name = self.unit.fresh("part")
        return [_bound(name, subject)], name

    def _sequence(self, subject: ast.expr, pattern: ast.MatchSequence, values: Mapping[str, str]) -> list[ast.expr]:
        stars = [index for index, part in enumerate(pattern.patterns) if isinstance(part, ast.MatchStar)]
        star = stars[0] if stars else None
        use = "unpacked"
        if all(map(_is_wildcard, pattern.patterns)):
            use = "length"
        elif star is not None and _is_wildcard(pattern.patterns[star]):
            use = "some"
        size = constant(len(pattern.patterns))
        matched = operator("match_sequence", subject, size, constant(star), constant(use))
        return self._parts(matched, pattern.patterns, values)

    def _parts(self, subject: ast.expr, parts: Sequence[ast.pattern], values: Mapping[str, str]) -> list[ast.expr]:
        """Returns the tests of the parts of a pattern, whose subjects an operator finds."""
        name = self.unit.fresh("parts")
        bound = ast.NamedExpr(target=store(name), value=subject)
        tests: list[ast.expr] = [ast.Compare(left=bound, ops=[ast.IsNot()], comparators=[constant(None)])]
        for index, part in enumerate(parts):
            if not _is_wildcard(part):
                item = ast.Subscript(value=load(name), slice=constant(index), ctx=ast.Load())
                tests.append(self._matches(located(item, part), part, values))
        return tests

    def _comparison(self, subject: str, pattern: ast.pattern) -> ast.expr | None:
        """Returns the test of a pattern that only compares the subject with values; None for another."""
        match pattern:
            case ast.MatchValue(value=value):
                test: ast.expr = ast.Compare(left=load(subject), ops=[ast.Eq()], comparators=[value])
            case ast.MatchSingleton(value=value):
                test = ast.Compare(left=load(subject), ops=[ast.Is()], comparators=[constant(value)])
            case ast.MatchOr():
                tests = [self._comparison(subject, part) for part in pattern.patterns]
                comparisons = [part for part in tests if part is not None]
                if len(comparisons) < len(tests):
                    return None
                test = ast.BoolOp(op=ast.Or(), values=comparisons)
            case _:
                return None
        return located(test, pattern)


def _is_wildcard(pattern: ast.pattern) -> bool:
    """Returns True for ``_`` and ``*_``."""
    return isinstance(pattern, ast.MatchAs | ast.MatchStar) and pattern.name is None


def _bound(name: str, value: ast.expr) -> ast.expr:
    """Returns a test that always holds, and binds a name: ``(name := value) is name``."""
    bound = ast.NamedExpr(target=store(name), value=value)
    return ast.Compare(left=bound, ops=[ast.Is()], comparators=[load(name)])


def _all(tests: Sequence[ast.expr]) -> ast.expr:
    """Returns the expression that all tests hold, of which each is evaluated only if those before it do."""
    if not tests:
        return constant(True)
    return tests[0] if len(tests) == 1 else Tests(op=ast.And(), values=list(tests))
