"""Takes ``match`` out of a function: it becomes a chain of ``if`` statements with the same meaning.

Values are compared where they stand: ``case 0 | None:`` becomes ``if subject == 0 or subject is None:``. A pattern that
looks into the subject is handed to the operator ``match``, which says whether it matches, and what the names in it
stand for. They are bound when the whole pattern matches, before the guard is evaluated.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from graphc.autograph.frontend.emit import assign, constant, load, located, not_, operator, store, strings
from graphc.autograph.frontend.rewriting import Block, StatementRewriter, if_
from graphc.autograph.frontend.scopes import Names, NameTable
from graphc.autograph.frontend.unit import Unit

__all__ = ["PatternMatch", "remove_matches"]

Delay = Callable[[ast.expr], ast.expr]


class PatternMatch(ast.stmt):
    """Matches a pattern: whether it does, and what its names stand for, are assigned to names of ours.

    Attributes:
      targets: the names that are assigned.
      reads: the subject, and the expressions inside the pattern.
      pattern: the pattern.
      names: what the pattern binds.
    """

    _fields = ("targets", "reads")

    targets: list[ast.Name]
    reads: list[ast.expr]
    pattern: ast.pattern
    names: Sequence[str]

    def assignment(self, delay: Delay) -> ast.Assign:
        """Returns the statement as a call of the operator.

        Args:
          delay: makes an expression of the pattern a function of no arguments, as it is evaluated only when the parts
            of the pattern before it match.
        """
        value = operator("match", self.reads[0], _described(self.pattern, delay), strings(self.names))
        target = ast.Tuple(elts=[*self.targets], ctx=ast.Store())
        return located(ast.Assign(targets=[target], value=located(value, self.pattern)), self)


def _pattern_match(subject: str, pattern: ast.pattern, names: Sequence[str], targets: Sequence[str]) -> PatternMatch:
    node = located(PatternMatch(), pattern)
    node.targets = [store(name) for name in targets]
    node.reads = [load(subject), *_expressions(pattern)]
    node.pattern = pattern
    node.names = names
    return node


def remove_matches(body: Block, unit: Unit) -> Block:
    """Rewrites the body of one function without ``match`` statements.

    Args:
      body: its statements; they are changed in place.
      unit: the conversion this belongs to, for new names.
    """
    return _Remover(unit).block(body)


def _expressions(pattern: ast.pattern) -> list[ast.expr]:
    """Returns the expressions inside a pattern."""
    found: list[ast.expr] = []
    for part in ast.iter_child_nodes(pattern):
        if isinstance(part, ast.pattern):
            found += _expressions(part)
        elif isinstance(part, ast.expr):
            found.append(part)
    return found


def _captures(pattern: ast.pattern) -> Iterator[str]:
    """Yields the names that a pattern binds; every alternative of ``|`` binds the same."""
    if isinstance(pattern, ast.MatchOr):
        yield from _captures(pattern.patterns[0])
        return
    for part in ast.iter_child_nodes(pattern):
        if isinstance(part, ast.pattern):
            yield from _captures(part)
    name = getattr(pattern, "rest" if isinstance(pattern, ast.MatchMapping) else "name", None)
    if name is not None:
        yield name


@dataclass
class _Test:
    """The test of a pattern.

    Attributes:
      before: statements to run first.
      holds: the test.
      bound: the names that the pattern binds, and what they are bound to.
    """

    before: Block
    holds: ast.expr
    bound: Sequence[tuple[str, str]]

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
        names = Names() if guard is None else NameTable().of(guard)
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
        self,
        subject: str,
        test: _Test,
        guard: ast.expr,
        names: Names,
        case: ast.match_case,
        others: Sequence[ast.match_case],
    ) -> Block:
        """Returns the statements for a guard that needs names of the pattern, or binds names itself."""
        if not isinstance(test.holds, ast.Name):
            flag = self.unit.fresh("matched")
            test = _Test([assign(flag, test.holds, case.pattern)], located(load(flag), case.pattern), test.bound)
        assert isinstance(test.holds, ast.Name)
        refused = if_(located(not_(guard), guard), [assign(test.holds.id, constant(False), guard)], [], guard)
        # The names are bound once more where the case is chosen: where tensors decide, only the branch that binds a
        # name has it for certain.
        kept = [(name, self.unit.fresh("value")) for name in sorted(names.binds)]
        keep = [assign(value, load(name), guard) for name, value in kept]
        again = [assign(name, load(value), guard) for name, value in kept]
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
        flag = self.unit.fresh("matched")
        values = [self.unit.fresh(name.strip("_") or "value") for name in names]
        before: Block = [_pattern_match(subject, pattern, names, [flag, *values])]
        return _Test(before, located(load(flag), pattern), [*zip(names, values, strict=True)])

    def _comparison(self, subject: str, pattern: ast.pattern) -> ast.expr | None:
        """Returns the test of a pattern that only compares the subject with values; None for another."""
        match pattern:
            case ast.MatchValue(value=value):
                test: ast.expr = ast.Compare(left=load(subject), ops=[ast.Eq()], comparators=[value])
            case ast.MatchSingleton(value=value):
                test = ast.Compare(left=load(subject), ops=[ast.Is()], comparators=[constant(value)])
            case ast.MatchOr():
                tests = [self._comparison(subject, part) for part in pattern.patterns]
                found = [part for part in tests if part is not None]
                if len(found) < len(tests):
                    return None
                test = ast.BoolOp(op=ast.Or(), values=found)
            case _:
                return None
        return located(test, pattern)


def _described(pattern: ast.pattern, delay: Delay) -> ast.expr:
    """Returns the expression that makes the operator's description of a pattern."""

    def all_of(patterns: Sequence[ast.pattern]) -> list[ast.expr]:
        return [_described(part, delay) for part in patterns]

    match pattern:
        case ast.MatchValue():
            found = operator("match_value", delay(pattern.value))
        case ast.MatchSingleton():
            found = operator("match_singleton", ast.Constant(value=pattern.value))
        case ast.MatchSequence():
            found = operator("match_sequence", *all_of(pattern.patterns))
        case ast.MatchStar():
            found = operator("match_star", *_name(pattern.name))
        case ast.MatchMapping():
            keys = ast.Tuple(elts=list(pattern.keys), ctx=ast.Load())
            values = ast.Tuple(elts=all_of(pattern.patterns), ctx=ast.Load())
            found = operator("match_mapping", delay(keys), values, *_name(pattern.rest))
        case ast.MatchClass():
            found = operator("match_class", delay(pattern.cls), *all_of(pattern.patterns))
            found.keywords = [
                ast.keyword(arg=name, value=value)
                for name, value in zip(pattern.kwd_attrs, all_of(pattern.kwd_patterns), strict=True)
            ]
        case ast.MatchOr():
            found = operator("match_or", *all_of(pattern.patterns))
        case ast.MatchAs(pattern=None):
            found = operator("match_as", *_name(pattern.name))
        case ast.MatchAs(pattern=inner, name=name):
            assert inner is not None
            found = operator("match_as", constant(name), _described(inner, delay))
        case _:
            raise AssertionError(pattern)
    return located(found, pattern)


def _name(name: str | None) -> list[ast.expr]:
    return [] if name is None else [constant(name)]
