"""Run totals of a cluster."""

from dataclasses import dataclass

from distsim.cluster.job import Job
from distsim.cluster.stages import reports, stages


@dataclass(frozen=True)
class ClusterReport:
    """Run totals: tokens, words, phrases, bytes shuffled, CPU seconds.

    tokens, words: of the corpus. phrases: in the ranges' tables. shuffled: bytes of the packets, by
    the stage that gave them. cpu: seconds of the tasks by stage, Java's aside. seconds: it took.
    """

    tokens: int
    words: int
    phrases: int
    shuffled: dict[str, int]
    cpu: dict[str, float]
    seconds: float

    @classmethod
    def of(cls, job: Job, seconds: float) -> "ClusterReport":
        """Return the totals of all tasks of a run, also those before it was killed.

        Arguments:
            job: the run.
            seconds: that it took.
        """
        cpu, shuffled = {}, {}
        for stage in stages(job):
            found = reports(job, stage.name)
            cpu[stage.name] = sum(one["cpu"] for one in found)
            if stage.gives:
                shuffled[stage.name] = sum(one["bytes"] for one in found)
        words = reports(job, "words")[0]
        phrases = sum(one.get("phrases", 0) for one in reports(job, "sign"))
        return cls(words["tokens"], words["words"], phrases, shuffled, cpu, seconds)

    def sentences(self) -> list[str]:
        """Return the report as lines for a person."""
        n = max(1, self.tokens)
        shuffled = sum(self.shuffled.values())
        stages_ = ", ".join(f"{name} {cpu:,.1f}" for name, cpu in self.cpu.items() if cpu >= 0.05)
        return [
            f"{self.tokens:,} tokens, {self.words:,} words, {self.phrases:,} phrases in "
            f"{self.seconds:,.1f} s",
            f"shuffled {shuffled:,} bytes, {shuffled / n:.1f} a token",
            f"CPU seconds of the tasks {sum(self.cpu.values()):,.1f}, "
            f"{sum(self.cpu.values()) / n * 1e6:.2f} microseconds a token: {stages_}",
        ]
