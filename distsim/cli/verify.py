"""`distsim verify ARTIFACT`: checks an artifact for damage"""

from typing import Annotated

import typer

from distsim.cli.console import progress_bar


def verify(artifact: Annotated[str, typer.Argument(metavar="ARTIFACT")]) -> None:
    """Check an artifact for damage, or a folder of packs or of make-grammar with all in it.

    Checks its checksums and its consistency; exit status 1 if anything is wrong.
    """
    from distsim.base.errors import ArtifactError
    from distsim.output.verification import find_faults

    with progress_bar("MB") as bar:
        faults = find_faults(artifact, progress=bar)
    if faults:
        more = f" and {len(faults) - 3} more" if len(faults) > 3 else ""
        raise ArtifactError(
            f"{artifact}: {'; '.join(faults[:3])}{more}: restore it from a copy or build it again"
        )
    print(f"{artifact}\tsound")
