"""The columns that the data plane carries, and how they are named.

A SPARQL variable `?user` is the column `?user`, so that no variable can collide with the engine's
own columns, which have plain names. Where rows carry the number of an evaluation, those inside a
WINDOW clause carry the window's own number; `content` makes the one of the other. With one window
the two are equal.
"""

from pyspark.sql.types import LongType, StringType, StructField, StructType

EVALUATION = "evaluation"
TIME = "time"
STREAM = "stream"
EVENT = "event"
# A number made of a triple: equal triples have the same.
FINGERPRINT = "fingerprint"
FROM_EVALUATION = "from_evaluation"
TO_EVALUATION = "to_evaluation"
RANGE = (FROM_EVALUATION, TO_EVALUATION)
MAPPINGS = "mappings"
REMAINING = "remaining"
FRESH = "fresh"
# The position of a mapping in the order that ORDER BY asks for.
POSITION = "position"
# What tells one mapping from all others, where BNODE must know.
SOLUTION = "solution"
GRAPH = "graph"
# The time of an evaluation, and that after which its windows begin.
AT = "at"
OPENING = "opening"
# The parts of a triple.
TRIPLE = ("s", "p", "o")

ELEMENTS = StructType(
    [
        StructField(TIME, LongType()),
        *(StructField(part, StringType()) for part in TRIPLE),
        # Where it came from: its stream's IRI, and a number that the triples of one event share.
        StructField(STREAM, StringType()),
        StructField(EVENT, LongType()),
        StructField(FINGERPRINT, LongType()),
    ]
)
# What no query looks at.
UNSEEN = (EVENT, FINGERPRINT)

ELEMENT_FIELDS = tuple(ELEMENTS.fieldNames())

INTAKE = StructType(
    [*ELEMENTS.fields, StructField("raw", StringType()), StructField("reason", StringType())]
)


def column_of(variable: str) -> str:
    """The column that carries a SPARQL variable."""
    return f"?{variable}"


def variable_of(column: str) -> str:
    """The SPARQL variable that a column carries."""
    return column[1:]
