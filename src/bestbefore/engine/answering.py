"""The answers of the evaluations that became due: job A, the maintenance of the views, job B."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, Observation, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.checkpoint.state import State, batch_name
from bestbefore.engine.key_statistics import split_statistics
from bestbefore.engine.quality import Answer, Quality, quality_of
from bestbefore.engine.served_view import ServedView
from bestbefore.engine.sinks import ANSWER, Sink
from bestbefore.job import Job
from bestbefore.maintenance import Outcome
from bestbefore.query import OutputOperator
from bestbefore.spark.answers import due_frame, evaluations, joined_rows
from bestbefore.spark.columns import FRESH
from bestbefore.spark.content import WindowContents
from bestbefore.spark.output_stream import LastAnswer, operator_of
from bestbefore.spark.static_graphs import StaticTables
from bestbefore.spark.window_mappings import window_mappings
from bestbefore.time import Clock
from bestbefore.windows import Due, reported


@dataclass(frozen=True)
class Maintained:
    """The evaluations that are answered; per service their view slices, and what each did."""

    evaluations: Sequence[int]
    slices: Sequence[pa.Table]
    outcomes: Sequence[Sequence[Outcome]]


@dataclass(frozen=True)
class Answering:
    """What a job answers with: the views of its services, its static graphs and its sink."""

    job: Job
    served: tuple[ServedView, ...]
    sink: Sink
    clock: Clock
    static: StaticTables | None = None

    @property
    def compares(self) -> bool:
        """Whether an answer is compared with the one before it."""
        return operator_of(self.job.query) is not OutputOperator.RSTREAM

    def answer(
        self, spark: SparkSession, contents: WindowContents, due: Due, *, state: State, folder: str
    ) -> tuple[list[Quality], Maintained]:
        """Answer what is due and write it; tell the quality of each answer.

        `folder` is where the last answer is kept for ISTREAM and DSTREAM.
        """
        windows = window_mappings(self.job.plan, contents, self.job.report.strategy)
        windows.persist()
        try:
            maintained = self._maintain(windows.statistics.toArrow(), due, state)
            due_rows = due_frame(spark, list(maintained.evaluations), due.timeline)
            rows = joined_rows(
                self.job.query,
                self.job.plan,
                contents,
                mappings=windows.mappings,
                slices=[spark.createDataFrame(cut) for cut in maintained.slices],
                due=due_rows,
                static=self.static.on(spark) if self.static else None,
            )
            last = LastAnswer(operator_of(self.job.query), folder, state.answered)
            with last.compared(rows, maintained.evaluations, batch_name(state.batch)) as streamed:
                answers = evaluations(streamed, due_rows, contents)
                figures = self._write(answers, state.batch)
        finally:
            windows.unpersist()
        return self._qualities(figures, due, maintained), maintained

    def _maintain(self, collected: pa.Table, due: Due, state: State) -> Maintained:
        """Choose the evaluations that are answered, and maintain the view of each service."""
        statistics = split_statistics(collected, self.job.plan)
        numbers = reported(
            self.job.report,
            due.answered(statistics.non_empty),
            due.timeline,
            found=statistics.reported,
        )
        done = [
            served.maintain(
                state.batch,
                numbers,
                table,
                timeline=due.timeline,
                saved=state.view(served.job.name).saved,
            )
            for served, table in zip(self.served, statistics.services, strict=True)
        ]
        return Maintained(numbers, [cut for cut, _ in done], [outcomes for _, outcomes in done])

    def _write(self, answers: DataFrame, batch: int) -> dict[int, Row]:
        """Write the answers; the figures of each come out of the same Spark job."""
        observation = Observation()
        figures = F.collect_list(F.struct("evaluation", "count", FRESH)).alias("figures")
        self.sink(answers.observe(observation, figures).select(*ANSWER), batch)
        return {row["evaluation"]: row for row in observation.get["figures"]}

    def _qualities(
        self, figures: dict[int, Row], due: Due, maintained: Maintained
    ) -> list[Quality]:
        records = []
        for number, evaluation in enumerate(maintained.evaluations):
            answer = Answer(
                evaluation=evaluation,
                at=due.timeline.at(evaluation),
                window=due.timeline.window(evaluation),
                rows=figures[evaluation]["count"],
                fresh=figures[evaluation][FRESH],
                written_ms=self.clock(),
            )
            services = zip(self.served, maintained.outcomes, strict=True)
            done = [(served.job, outcomes[number]) for served, outcomes in services]
            records.append(quality_of(answer, done))
        return records
