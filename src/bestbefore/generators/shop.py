"""An e-commerce store in the spirit of the Berlin SPARQL Benchmark (thesis section 3.5)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

import numpy as np
import pyarrow as pa

from bestbefore.arrays import Booleans, Integers
from bestbefore.generators.catalogue import check_rows
from bestbefore.generators.stores import GeneratedStore, store_generators
from bestbefore.parameters import check_above, check_at_least, check_within
from bestbefore.rdf.terms import RDF_TYPE, XSD

SHOP = "http://shop.example/"
_TRIPLES_PER_PRODUCT = 375
_LEVELS = 10
# So many of one kind for each product.
_OFFERS, _REVIEWS, _PEOPLE, _FEATURES, _TYPES = 20, 10, 0.5, 4.2, 0.15
_PRODUCERS, _VENDORS = 0.02, 0.01
_DAYS, _PUBLISHERS, _COUNTRIES = 1_500, 30, 12
Draw = Callable[[int], list[str]]
"""What gives so many objects."""

_LINKS = {
    "Product": ("type", "producer", "productFeature"),
    "Offer": ("product", "vendor"),
    "Review": ("reviewFor", "reviewer"),
    "Person": ("country", "publisher"),
}
"""What queries bind the object of, by the class of the subject."""


@store_generators.register("shop")
@dataclass(frozen=True)
class ShopStore:
    """A shop's products, producers, features, offers, vendors, reviews and people: 40 predicates.

    A product comes with about 375 triples. Each predicate has a freshness of its own, drawn from
    Beta(`alpha`, `beta`) in ten levels; a triple is fresh with the freshness of its predicate. With
    a `dependence` triples of one subject tend to be stale together, by that share of them.
    Queries are joins on the subject of two to four predicates; the second part of them also binds
    one object or two.
    """

    products: int = 1_000
    alpha: float = 0.5
    beta: float = 0.5
    dependence: float = 0.0
    free_queries: int = 150
    bound_queries: int = 150

    def __post_init__(self) -> None:
        check_rows(self.products * _TRIPLES_PER_PRODUCT, "triples")
        check_at_least(1, products=self.products)
        check_above(0, alpha=self.alpha, beta=self.beta)
        check_within(0, 1, dependence=self.dependence)
        check_at_least(0, free_queries=self.free_queries, bound_queries=self.bound_queries)

    def make(self, seed: int) -> GeneratedStore:
        """A store with these parameters; the same seed gives the same one."""
        data_rng, flag_rng, query_rng = np.random.default_rng(seed).spawn(3)
        shop = _Shop(data_rng)
        shop.fill(self.products)
        triples = shop.table()
        fresh = self._flags(triples, flag_rng)
        queries = _Queries(shop, query_rng)
        return GeneratedStore(
            triples.append_column("fresh", pa.array(fresh)),
            [*queries.free(self.free_queries), *queries.bound(self.bound_queries)],
        )

    def _flags(self, triples: pa.Table, rng: np.random.Generator) -> Booleans:
        """Which triples are fresh."""
        predicate, subject = (triples[name].combine_chunks().dictionary_encode() for name in "ps")
        level = np.floor(rng.beta(self.alpha, self.beta, len(predicate.dictionary)) * _LEVELS)
        freshness = (np.minimum(level, _LEVELS - 1) + 0.5) / _LEVELS
        own, shared = rng.random(len(triples)), rng.random(len(subject.dictionary))
        together = rng.random(len(triples)) < self.dependence
        drawn = np.where(together, shared[subject.indices.to_numpy()], own)
        return np.asarray(drawn < freshness[predicate.indices.to_numpy()], dtype=np.bool_)


@dataclass
class _Shop:
    """Subjects and objects as they are drawn, by the class of the subjects and the predicate."""

    rng: np.random.Generator
    pairs: dict[str, dict[str, tuple[list[str], list[str]]]] = field(default_factory=dict)

    def fill(self, products: int) -> None:
        """Draw everything."""
        count = {
            kind: max(2, round(products * share))
            for kind, share in (
                ("Producer", _PRODUCERS),
                ("Vendor", _VENDORS),
                ("Person", _PEOPLE),
                ("ProductFeature", _FEATURES),
                ("ProductType", _TYPES),
            )
        }
        for kind, number in count.items():
            self._described(kind, number)
        self._add("ProductType", "subClassOf", count["ProductType"], self._of("ProductType", count))
        for kind in ("Producer", "Vendor", "Person"):
            self._add(kind, "country", count[kind], self._among("country", _COUNTRIES))
        for kind in ("Producer", "Vendor"):
            self._add(kind, "homepage", count[kind], self._own(f"{kind}Page"))
        self._add("Person", "name", count["Person"], self._text)
        self._add("Person", "mbox_sha1sum", count["Person"], self._text)
        self._products(products, count)
        self._offers(products, count)
        self._reviews(products, count)

    def table(self) -> pa.Table:
        """All triples, each once."""
        groups = [(name, *pair) for own in self.pairs.values() for name, pair in own.items()]
        columns = {
            "s": chain.from_iterable(subjects for _, subjects, _ in groups),
            "p": chain.from_iterable([_predicate(name)] * len(own) for name, own, _ in groups),
            "o": chain.from_iterable(objects for _, _, objects in groups),
        }
        table = pa.table({name: pa.array(terms) for name, terms in columns.items()})
        return table.group_by(list(columns), use_threads=False).aggregate([])

    def _products(self, products: int, count: dict[str, int]) -> None:
        self._described("Product", products)
        self._add("Product", "producer", products, self._of("Producer", count))
        # Few types and features have many products, most have few.
        types = self._skewed("ProductType", count)
        self._add("Product", "type", products, types, each=self.rng.integers(1, 4, products))
        features = self._skewed("ProductFeature", count)
        several = self.rng.integers(16, 33, products)
        self._add("Product", "productFeature", products, features, each=several)
        for number in range(1, 7):
            has = (self.rng.random(products) < (1.0 if number <= 3 else 0.5)).astype(np.int64)
            self._add("Product", f"productPropertyTextual{number}", products, self._text, each=has)
            values = self._number(1, 2_000)
            self._add("Product", f"productPropertyNumeric{number}", products, values, each=has)

    def _offers(self, products: int, count: dict[str, int]) -> None:
        offers = products * _OFFERS
        self._described("Offer", offers, described=False)
        self._add("Offer", "product", offers, self._among("Product", products))
        self._add("Offer", "vendor", offers, self._of("Vendor", count))
        self._add("Offer", "price", offers, self._number(100, 1_000_000))
        for name in ("validFrom", "validTo"):
            self._add("Offer", name, offers, self._day)
        self._add("Offer", "deliveryDays", offers, self._number(1, 22))
        self._add("Offer", "offerWebpage", offers, self._own("OfferPage"))

    def _reviews(self, products: int, count: dict[str, int]) -> None:
        reviews = products * _REVIEWS
        self._described("Review", reviews, described=False)
        self._add("Review", "reviewFor", reviews, self._among("Product", products))
        self._add("Review", "reviewer", reviews, self._of("Person", count))
        self._add("Review", "reviewDate", reviews, self._day)
        for name in ("title", "text"):
            self._add("Review", name, reviews, self._text)
        for number in range(1, 5):
            rated = (self.rng.random(reviews) < 0.7).astype(np.int64)
            self._add("Review", f"rating{number}", reviews, self._number(1, 11), each=rated)

    def _described(self, kind: str, number: int, *, described: bool = True) -> None:
        """What everything has: a class, who published it and when, mostly a label and a comment."""
        self._add(kind, "type", number, lambda size: [_iri(kind)] * size)
        if described:
            self._add(kind, "label", number, self._text)
            self._add(kind, "comment", number, self._text)
        self._add(kind, "publisher", number, self._among("Publisher", _PUBLISHERS))
        self._add(kind, "date", number, self._day)

    def _add(
        self, kind: str, name: str, number: int, draw: Draw, each: Integers | None = None
    ) -> None:
        """Add triples of a predicate: one for each subject of a kind, or several or none."""
        subject = np.arange(number) if each is None else np.repeat(np.arange(number), each)
        subjects = [_iri(f"{kind}{place}") for place in subject.tolist()]
        own_subjects, own_objects = self.pairs.setdefault(kind, {}).setdefault(name, ([], []))
        own_subjects += subjects
        own_objects += draw(len(subject))

    def _of(self, kind: str, count: dict[str, int]) -> Draw:
        return self._among(kind, count[kind])

    def _among(self, kind: str, number: int) -> Draw:
        return lambda size: [_iri(f"{kind}{one}") for one in self._drawn(number, size)]

    def _skewed(self, kind: str, count: dict[str, int]) -> Draw:
        number = count[kind]

        def draw(size: int) -> list[str]:
            places = np.floor(number * self.rng.random(size) ** 2).astype(np.int64)
            return [_iri(f"{kind}{place}") for place in places.tolist()]

        return draw

    def _own(self, kind: str) -> Draw:
        return lambda size: [_iri(f"{kind}{place}") for place in range(size)]

    def _number(self, low: int, high: int) -> Draw:
        return lambda size: [
            f'"{value}"^^<{XSD}integer>' for value in self.rng.integers(low, high, size).tolist()
        ]

    def _day(self, size: int) -> list[str]:
        days = np.datetime64("2020-01-01") + self.rng.integers(0, _DAYS, size)
        return [f'"{day}"^^<{XSD}date>' for day in days.astype(str).tolist()]

    def _text(self, size: int) -> list[str]:
        words = self.rng.integers(0, 26**5, (size, 2)).tolist()
        return [f'"{_word(one)} {_word(other)}"' for one, other in words]

    def _drawn(self, number: int, size: int) -> list[int]:
        return list(map(int, self.rng.integers(0, number, size)))


@dataclass(frozen=True)
class _Queries:
    """Joins on the subject of some predicates of one class."""

    shop: _Shop
    rng: np.random.Generator

    def free(self, number: int) -> Iterator[str]:
        """Queries that bind no object."""
        kinds = list(self.shop.pairs)
        for _ in range(number):
            names = list(self.shop.pairs[kinds[self.rng.integers(len(kinds))]])
            chosen = self.rng.permutation(names)[: self.rng.integers(2, 5)].tolist()
            yield _star(dict.fromkeys(chosen))

    def bound(self, number: int) -> Iterator[str]:
        """Queries that bind one object or two to those of some subject, so that all have rows."""
        kinds = list(_LINKS)
        for _ in range(number):
            kind = kinds[self.rng.integers(len(kinds))]
            pairs = self.shop.pairs[kind]
            first, second = self.rng.permutation(_LINKS[kind])[:2].tolist()
            subjects, objects = pairs[first]
            chosen = int(self.rng.integers(len(subjects)))
            bound = {first: objects[chosen]}
            if self.rng.random() < 0.1 and subjects[chosen] in self._having[kind, second]:
                bound[second] = pairs[second][1][pairs[second][0].index(subjects[chosen])]
            rest = self.rng.permutation([name for name in pairs if name not in bound]).tolist()
            had = [name for name in rest if subjects[chosen] in self._having[kind, name]]
            yield _star(bound | dict.fromkeys(had[: self.rng.integers(1, 4)]))

    @cached_property
    def _having(self) -> dict[tuple[str, str], frozenset[str]]:
        """The subjects that have a predicate, by their class and the predicate."""
        return {
            (kind, name): frozenset(subjects)
            for kind, own in self.shop.pairs.items()
            for name, (subjects, _) in own.items()
        }


def _star(objects: dict[str, str | None]) -> str:
    """A query for the subjects of some predicates, with objects where they are bound."""
    lines = (
        f"  ?s {_predicate(name)} {bound or f'?o{place}'} .\n"
        for place, (name, bound) in enumerate(objects.items())
    )
    return f"SELECT * WHERE {{\n{''.join(lines)}}}\n"


def _iri(name: str) -> str:
    return f"<{SHOP}{name}>"


def _predicate(name: str) -> str:
    return f"<{RDF_TYPE}>" if name == "type" else _iri(name)


def _word(number: int) -> str:
    letters = []
    for _ in range(5):
        number, letter = divmod(number, 26)
        letters.append(chr(97 + letter))
    return "".join(letters)
