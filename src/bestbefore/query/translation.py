"""The algebra out of a parse tree, as section 18.2 of SPARQL 1.1 defines it."""

from dataclasses import dataclass

from bestbefore.errors import UnsupportedSparql
from bestbefore.query.algebra import (
    BGP,
    Ask,
    Construct,
    Describe,
    Form,
    Pattern,
    Select,
    TriplePattern,
    Variable,
    Window,
    visible_variables,
)
from bestbefore.query.dataset import DatasetClause
from bestbefore.query.default_window import enclose
from bestbefore.query.diagnosis import diagnose
from bestbefore.query.expression_translation import Context
from bestbefore.query.group_translation import translate_group
from bestbefore.query.select_translation import translate_modifiers, translate_select
from bestbefore.query.source import Source
from bestbefore.query.spelling import spell
from bestbefore.query.syntax import Leaf, Node, Tree, parse_tree
from bestbefore.query.text import unsupported_at
from bestbefore.query.triples import translate_template
from bestbefore.rdf.terms import IRI

_EMPTY = Node("GroupGraphPatternSub", {})


@dataclass(frozen=True, slots=True)
class Body:
    """What a SPARQL query means: the form of its answer, its pattern and its dataset."""

    form: Form
    pattern: Pattern
    dataset: DatasetClause


def translate(source: Source, default_window: str | None) -> Body:
    """The meaning of a query body; patterns outside of any clause are about the default window."""
    spelling = spell(source.tokens)
    tree = parse_tree(spelling)
    if tree is None:
        raise diagnose(spelling)

    def group(part: Tree, source: Source) -> Pattern:
        pattern = translate_group(part, source)
        return enclose(pattern, default_window, source.notes) if default_window else pattern

    form, pattern = _solved(tree, Context(source, group, "the query"))
    dataset = _dataset(tree, source)
    if default_window and dataset.default:
        raise _mixed_graph(tree, source)
    return Body(form, pattern, dataset)


def _mixed_graph(tree: Node, source: Source) -> UnsupportedSparql:
    """The refusal of a default graph that is part window and part static graph."""
    clauses = (each for each in tree.all("datasetClause") if isinstance(each, Node))
    clause = next(each for each in clauses if "default" in each.parts)
    instead = "write FROM NAMED WINDOW and WINDOW { … } for what is in the stream"
    return unsupported_at(source.token(clause), "FROM next to FROM STREAM", instead=instead)


def _solved(tree: Node, context: Context) -> tuple[Form, Pattern]:
    source = context.source
    where = context.group(tree.parts.get("where", _EMPTY), source)
    if tree.name == "SelectQuery":
        projection, pattern = translate_select(tree, where, context)
        return Select(projection), pattern
    pattern = translate_modifiers(tree, where, context)
    match tree.name:
        case "ConstructQuery":
            return Construct(_template(tree, where, source)), pattern
        case "DescribeQuery":
            terms = tuple(_described(each, source) for each in tree.all("var"))
            return Describe(terms or visible_variables(pattern)), pattern
    return Ask(), pattern


def _template(tree: Node, where: Pattern, source: Source) -> tuple[TriplePattern, ...]:
    """The template of CONSTRUCT; its short form constructs what it matches."""
    if source.tokens[1].is_mark("{"):
        return translate_template(tree.all("template"), source)
    where = where.pattern if isinstance(where, Window) else where
    return where.patterns if isinstance(where, BGP) else ()


def _described(tree: Tree, source: Source) -> Variable | IRI:
    if not isinstance(tree, Leaf):
        raise TypeError(f"no term to describe: {tree}")
    return source.name(tree)


def _dataset(tree: Node, source: Source) -> DatasetClause:
    default, named = list[str](), list[str]()
    for clause in tree.all("datasetClause"):
        match clause:
            case Node(_, {"default": Leaf() as leaf}):
                default.append(source.prologue.resolve(source.token(leaf)))
            case Node(_, {"named": Leaf() as leaf}):
                named.append(source.prologue.resolve(source.token(leaf)))
    return DatasetClause(tuple(dict.fromkeys(default)), tuple(dict.fromkeys(named)))
