"""The values of columns of any type as text, written as XML Schema writes them."""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    MapType,
    StringType,
    StructType,
    TimestampType,
    VariantType,
)

_EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"


def quoted(name: str) -> str:
    """A column's name as Spark reads it, whatever characters it has."""
    return f"`{name.replace('`', '``')}`"


def is_text(kind: DataType) -> bool:
    """Whether a column of the type holds bytes that may be no UTF-8."""
    return isinstance(kind, StringType | BinaryType)


def text_of(name: str, kind: DataType) -> Column:
    """The values of a column as text, the same whatever the session's settings are."""
    column = F.col(quoted(name))
    match kind:
        case StringType() | BinaryType():
            return F.make_valid_utf8(column.cast("string"))
        case TimestampType():
            # A plain cast would write the session's own time zone.
            utc = F.expr(f"timestampadd(MICROSECOND, unix_micros({quoted(name)}), {_EPOCH})")
            local = F.replace(utc.cast("string"), F.lit(" "), F.lit("T"))
            return F.concat(local, F.lit("Z"))
        case DecimalType():
            # A plain cast may write an exponent.
            return F.replace(F.format_number(column, kind.scale), F.lit(","), F.lit(""))
        case FloatType() | DoubleType():
            return F.replace(column.cast("string"), F.lit("Infinity"), F.lit("INF"))
        case ArrayType() | MapType() | StructType() | VariantType():
            return F.to_json(column)
    return column.cast("string")
