"""The mutants of a source file: copies that differ in one comparison, operator or constant."""

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
OPPOSITES = {"min": "max", "minimum": "maximum", "any": "all", "argmin": "argmax"}
OPPOSITES |= {opposite: name for name, opposite in OPPOSITES.items()}

Steps = tuple[tuple[str, int | None], ...]
Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, eq=False)
class Mutant:
    """One change of one node: where it is, and what it makes of the source.

    `file`, `function`, `line`, `change` and `twin`, its number among equals, name it also after the
    code around it has changed. `statement` is the line of the statement in a function whose tests
    can notice it, None for what is executed when the module is imported.
    """

    file: str
    function: str
    line: str
    change: str
    twin: int
    number: int
    statement: int | None
    steps: Steps
    mutated: ast.AST

    @property
    def name(self) -> str:
        """What is the same as long as this place of the source is."""
        twin = f" #{self.twin}" if self.twin > 1 else ""
        return f"{self.file} | {self.function} | {self.line} | {self.change}{twin}"

    def source(self, text: str) -> str:
        """What it makes of the text of its file."""
        return ast.unparse(_replaced(ast.parse(text), self.steps, self.mutated))


@dataclass(frozen=True)
class _Place:
    """A node that can be mutated, what becomes of it, and what surrounds it."""

    steps: Steps
    node: ast.expr | ast.stmt
    mutated: ast.AST
    shown: tuple[ast.AST, Steps]
    function: str
    statement: int | None


def mutants(root: Path, file: Path) -> list[Mutant]:
    """All mutants of a file, in the order of its lines."""
    text = file.read_text(encoding="utf-8")
    tree, lines = ast.parse(text), text.splitlines()
    found, twins = [], Counter[tuple[str, str, str]]()
    for place in sorted(_places(tree), key=lambda place: place.node.lineno):
        shown, inside = place.shown
        after = _replaced(shown, inside, place.mutated)
        change = f"{_short(shown)} → {_short(after)}"
        line = lines[place.node.lineno - 1].strip()
        twins[place.function, line, change] += 1
        mutant = Mutant(
            file=file.relative_to(root).as_posix(),
            function=place.function,
            line=line,
            change=change,
            twin=twins[place.function, line, change],
            number=place.node.lineno,
            statement=place.statement,
            steps=place.steps,
            mutated=place.mutated,
        )
        found.append(mutant)
    return found


def marked(text: str, first: int) -> str:
    """The source with a mark before each statement of a function: `first` + the line.

    The marks that were passed are in `sys.passed_marks`.
    """
    tree = ast.parse(text)
    for node in list(ast.walk(tree)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            _mark(node, first)
    mark = ast.parse('_mark = __import__("sys").__dict__.setdefault("passed_marks", set()).add')
    tree.body[1:1] = mark.body  # after the docstring that each module has
    return ast.unparse(ast.fix_missing_locations(tree))


def _mark(block: ast.AST, first: int) -> None:
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        statements = getattr(block, field, [])
        if not isinstance(statements, list):
            continue
        for each in list(statements):
            if isinstance(each, ast.stmt) and not isinstance(each, ast.Global | ast.Nonlocal):
                mark = ast.parse(f"_mark({first + each.lineno})").body[0]
                statements.insert(statements.index(each), mark)
            if not isinstance(each, Scope):
                _mark(each, first)


def _places(
    node: ast.AST, steps: Steps = (), scope: str = "", statement: int | None = None
) -> Iterator[_Place]:
    """The places below a node; annotations and decorators have none."""
    for field, value in ast.iter_fields(node):
        if field in {"annotation", "returns", "decorator_list", "type_params"}:
            continue
        several = isinstance(value, list)
        for number, child in enumerate(value if several else [value]):
            if not isinstance(child, ast.AST) or _asserts_or_tells(child):
                continue
            below = (*steps, (field, number if several else None))
            inner, line = scope, statement
            if isinstance(node, Scope) and field == "body":
                inner = f"{scope}.{node.name}".strip(".")
                line = None if isinstance(node, ast.ClassDef) else getattr(child, "lineno", None)
            elif isinstance(child, ast.stmt) and statement is not None:
                line = child.lineno
            if isinstance(child, ast.expr | ast.stmt):
                for mutated in _mutations(child):
                    # A constant says little without what it is part of.
                    whole = isinstance(node, ast.expr) and not isinstance(node, ast.JoinedStr)
                    small = isinstance(child, ast.Constant) and whole
                    shown = (node, below[-1:]) if small else (child, ())
                    yield _Place(below, child, mutated, shown, inner or "module", line)
            yield from _places(child, below, inner, line)


def _mutations(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=ops):
            for number, operator in enumerate(ops):
                turned = copy.deepcopy(node)
                turned.ops[number] = COMPARISONS[type(operator)]()
                yield turned
        case ast.BinOp(op=operator) | ast.AugAssign(op=operator) if type(operator) in OPERATORS:
            if not (isinstance(node, ast.BinOp) and (_texts(node) or _types(node))):
                yield _with(node, op=OPERATORS[type(operator)]())
        case ast.BoolOp(op=operator):
            yield _with(node, op=ast.Or() if isinstance(operator, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            yield copy.deepcopy(operand)
        case ast.Name(id=name) if name in OPPOSITES:
            yield _with(node, id=OPPOSITES[name])
        case ast.Attribute(attr=name) if name in OPPOSITES:
            yield _with(node, attr=OPPOSITES[name])
        case ast.Constant(value=int(value) | float(value)):
            yield ast.Constant(not value if isinstance(value, bool) else value + 1)


def _texts(node: ast.BinOp) -> bool:
    """Whether texts or paths are put together, where another operator only raises."""
    sides = (node.left, node.right)
    return any(
        isinstance(side, ast.JoinedStr)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in sides
    )


def _types(node: ast.BinOp) -> bool:
    """Whether this is a union of types."""
    names = [side.id for side in ast.walk(node) if isinstance(side, ast.Name)]
    union = isinstance(node.op, ast.BitOr)
    return union and all(name[0].isupper() or name in {"int", "str", "float"} for name in names)


def _asserts_or_tells(node: ast.AST) -> bool:
    """Whether this is a docstring, or the `strict` of `zip`, which no right program hears of."""
    text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return text or (isinstance(node, ast.keyword) and node.arg == "strict")


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.deepcopy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _replaced(tree: ast.AST, steps: Steps, mutated: ast.AST) -> ast.AST:
    """A copy of a tree with another node at the end of the steps."""
    if not steps:
        return mutated
    result = copy.deepcopy(tree)
    node: ast.AST = result
    for field, number in steps[:-1]:
        node = getattr(node, field) if number is None else getattr(node, field)[number]
    field, number = steps[-1]
    if number is None:
        setattr(node, field, mutated)
    else:
        getattr(node, field)[number] = mutated
    return result


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 90 else f"{text[:60]} … {text[-25:]}"
