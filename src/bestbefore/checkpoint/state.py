"""The engine's state after a batch: small, versioned, written once per batch."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from bestbefore.errors import DamagedState, InputError, MissingQueryError, StateError
from bestbefore.job.job import Job
from bestbefore.query import ContinuousQuery, parse_query, print_query
from bestbefore.sealed import check_format, seal, unseal
from bestbefore.spark.buffer import Segment
from bestbefore.spark.element_numbers import Anchor
from bestbefore.spark.needed_elements import NeededElements
from bestbefore.storage import Storage

FORMAT = 11
QUERIES = "queries"


@dataclass(frozen=True)
class ViewState:
    """The durable form of a service's view, and what of its budgets is spent.

    The snapshot is `unused` if no evaluation had begun when it was made.
    `saved` is the budget that is left for later and `price` what a refresh is worth; `started` was
    spent to fill the view. `ledger` and `limits` tell how often the ledgers of refreshes and of
    requests had been written. A view that queries share counts its own `steps`.
    """

    snapshot: str = ""
    snapshot_batch: int = -1
    unused: bool = False
    saved: int = 0
    price: float | None = None
    started: int = 0
    ledger: int = 0
    limits: int = 0
    steps: int = 0


@dataclass(frozen=True)
class State:
    """Where the query stands: what the next batch goes on from.

    `batch` numbers the transactions, `source_batch` is Spark's own number of the last of them that
    brought elements. `latest` has the time that a stream has come to, by its IRI: that of its
    latest element, or of a later advance. `needed` is what the buffer keeps; `answered` names the
    rows of the last answer, which ISTREAM and DSTREAM compare with. `files` has the fingerprints of
    all files and folders that it relies on, `offsets` has Spark's own of its last batches by file,
    `settings` what the job said that cannot change silently, `run` the id of the checkpoint. The
    states of `others` are those of queries that run with this one, by the names of their folders;
    it is all one transaction.
    """

    query: str
    batch: int = -1
    source_batch: int = -1
    t0_ms: tuple[int, ...] | None = None
    begun_ms: int | None = None
    first_evaluation: int = 1
    next_evaluation: int = 1
    latest: Mapping[str, int] = field(default_factory=dict)
    segments: tuple[Segment, ...] = ()
    needed: NeededElements = field(default_factory=NeededElements)
    views: Mapping[str, ViewState] = field(default_factory=dict)
    anchor: Anchor = field(default_factory=Anchor)
    answered: str = ""
    elements: int = 0
    late: int = 0
    quarantined: int = 0
    requests: int = 0
    refreshes: int = 0
    reported: tuple[int, int, int] = (0, 0, 0)
    run: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    offsets: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[str, "State"] = field(default_factory=dict)

    @property
    def taken_in(self) -> tuple[int, int, int]:
        """All elements, late ones and quarantined lines so far."""
        return self.elements, self.late, self.quarantined

    @property
    def evaluations(self) -> int:
        """How many evaluations were due so far."""
        return self.next_evaluation - self.first_evaluation

    @property
    def latest_ms(self) -> int | None:
        """The time that the stream has come to that is furthest behind."""
        return min(self.latest.values(), default=None)

    def view(self, service: str) -> ViewState:
        """The state of a service's view."""
        return self.views.get(service, ViewState())

    def parts(self) -> dict[str, "State"]:
        """The states of all queries, by the folders of their files: this one's has no name."""
        return {"": self} | {query_folder(name): one for name, one in self.others.items()}

    def without_view(self, folder: str, service: str) -> "State":
        """The state in which a view of the query of a folder begins anew."""
        part = self.parts()[folder]
        anew = replace(part.view(service), snapshot="", snapshot_batch=part.batch)
        state = self.with_part(folder, replace(part, views={**part.views, service: anew}))
        return state.without_files(f"{folder}services/{service}")

    def without_files(self, name: str) -> "State":
        """The state that does not rely on a file or a folder."""
        files = {one: told for one, told in self.files.items()
                 if not f"{one}/".startswith(f"{name}/")}  # fmt: skip
        return replace(self, files=files)

    def with_part(self, folder: str, part: "State") -> "State":
        """The state with another one for the query of a folder."""
        if not folder:
            return part
        return replace(self, others={**self.others, folder.split("/")[1]: part})


@dataclass(frozen=True, slots=True)
class Commits:
    """The states of the two latest batches; writing one is what commits a batch."""

    storage: Storage

    def latest(self, job: Job, others: Mapping[str, Job] | None = None) -> State:
        """The state that a job goes on from: of its last committed batch, or a new one.

        With `others` it runs together, by their folders; those that it did not run with join. A
        state of another query, or one that has let go of what a job needs, is an error.
        """
        together, names = others or {}, self.names()
        if not names:
            begun = {name: _begun(one) for name, one in together.items()}
            return replace(_begun(job), others=begun)
        state = self.read(names[-1])
        if missing := sorted(state.others.keys() - together.keys()):
            lacking = ", ".join(f"<{parse_query(state.others[one].query).name}>" for one in missing)
            raise MissingQueryError(
                f"the checkpoint {self.storage.root} belongs to {1 + len(state.others)} queries "
                f"that run together, and this run lacks {lacking}: start all of them, or use "
                "another checkpoint.path"
            )
        found = {
            name: self._checked(one, state.others[name])
            if name in state.others
            else self._joining(one, state)
            for name, one in together.items()
        }
        whole = replace(self._checked(job, state), others=found)
        return _ready_to_share(whole) if found.keys() != state.others.keys() else whole

    def in_order(self, jobs: Sequence[Job]) -> list[int]:
        """The numbers of jobs, first the one in whose name the checkpoint is."""
        numbers, kept = list(range(len(jobs))), self.kept() if len(jobs) > 1 else []
        if not kept:
            return numbers
        text = kept[-1].query
        return sorted(numbers, key=lambda number: not is_text_of(jobs[number].query, text))

    def _joining(self, job: Job, state: State) -> State:
        """The state of a query that joins others: it sees what comes after their last batch."""
        settings = [key for part in state.parts().values() for key in part.settings]
        for stream in job.sources:
            if not any(key.startswith(f"streams <{stream.iri}> ") for key in settings):
                raise StateError(
                    f"<{job.query.name}> joins the queries of the checkpoint {self.storage.root} "
                    f"and looks at the stream <{stream.iri}>, which none of them does; Spark's "
                    "offsets are those of their streams: use another checkpoint.path"
                )
        return replace(_begun(job), batch=state.batch, source_batch=state.source_batch)

    def _checked(self, job: Job, state: State) -> State:
        """The state of a job, if it is one."""
        if not is_text_of(job.query, state.query):
            raise StateError(
                f"the checkpoint {self.storage.root} belongs to another query: "
                "use another checkpoint.path, or remove that folder to start anew"
            )
        self._check_needed(job, state)
        return replace(state, needed=job.needed_elements)

    def names(self) -> list[str]:
        """The files of the commits, oldest first."""
        return [f"commits/{name}" for name in self.storage.names("commits")]

    def read(self, name: str) -> State:
        """The state in the file of a commit."""
        content = self.storage.read(name) or b""
        where = f"the checkpoint {self.storage.root}"
        check_format(content, FORMAT, where, "use another checkpoint.path")
        state = _read(unseal(content, f"{self.storage.root}/{name}"))
        if name != _name(state.batch):
            raise DamagedState(
                f"{self.storage.root}/{name} holds the commit of batch {state.batch}"
            )
        return state

    def _check_needed(self, job: Job, state: State) -> None:
        for stream, shape in job.needed_elements.beyond(state.needed):
            if job.needs_whole_windows:
                reason = f"query.report = {job.report.strategy.value!r} looks at whole windows"
                way_out = "leave the report as it was"
            else:
                wanted = " ".join(term or "_" for term in shape)
                reason = f"the query looks at {wanted} too (_ is any term)"
                way_out = "finish it with an older version"
            raise StateError(
                f"the checkpoint {self.storage.root} keeps only a part of the stream <{stream}>, "
                f"what the query's patterns looked at, and {reason}: {way_out}, or use another "
                "checkpoint.path"
            )

    def commit(self, state: State) -> None:
        """Make a batch final; the one before is kept, older ones are dropped."""
        self.write(state)
        self.storage.delete(_name(state.batch - 2))

    def write(self, state: State) -> None:
        """Write the commit of a batch, in place of one that there may be."""
        self.storage.write(_name(state.batch), seal({"format": FORMAT, **asdict(state)}))

    def kept(self) -> list[State]:
        """The states of the commits, oldest first, less those before one that cannot be read."""
        states = list[State]()
        for name in reversed(self.names()):
            try:
                states.insert(0, self.read(name))
            except DamagedState:
                break
        return states


def _begun(job: Job) -> State:
    return State(print_query(job.query), needed=job.needed_elements)


def _ready_to_share(state: State) -> State:
    """The state in which any view may be shared from now on, so that its own steps count."""
    views = {
        name: replace(view, steps=max(view.steps, state.next_evaluation))
        for name, view in state.views.items()
    }
    others = {name: _ready_to_share(one) for name, one in state.others.items()}
    return replace(state, views=views, others=others)


def query_folder(name: str) -> str:
    """The folder of a query that runs with another, before the names of its files."""
    return f"{QUERIES}/{name}/"


def _read(fields: dict[str, Any]) -> State:
    fields.pop("format", None)
    t0_ms = fields.pop("t0_ms")
    views = {name: ViewState(**view) for name, view in fields.pop("views").items()}
    kept = fields.pop("needed")["shapes"]
    return State(
        t0_ms=None if t0_ms is None else tuple(t0_ms),
        segments=tuple(Segment(**segment) for segment in fields.pop("segments")),
        needed=NeededElements(
            {iri: tuple((s, p, o) for s, p, o in shapes) for iri, shapes in kept.items()}
        ),
        reported=tuple(fields.pop("reported")),
        others={name: _read(one) for name, one in fields.pop("others").items()},
        views=views,
        anchor=Anchor(**fields.pop("anchor")),
        **fields,
    )


def is_text_of(query: ContinuousQuery, text: str) -> bool:
    """Whether a text, as this or another version printed it, is that of a query."""
    try:
        return text == print_query(query) or parse_query(text) == query
    except InputError:
        return False


def batch_name(batch: int) -> str:
    """What files and folders of a batch are called."""
    return f"batch-{batch:012d}"


def merged_name(batch: int) -> str:
    """What the segment is called that a batch merged others into."""
    return f"{batch_name(batch)}-merged"


def _name(batch: int) -> str:
    return f"commits/{batch_name(batch)}.json"
