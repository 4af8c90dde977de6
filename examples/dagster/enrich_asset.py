"""A Dagster asset that enriches a CRM export with `enrich run`.

Settings: ENRICH_COMMAND (default: enrich; not npx, which passes on no signals), ENRICH_EXPORT (path of the export),
ENRICH_OPTIONS (such as "--max-credits 500 --expect usual"). A repeated command continues an unfinished run, so a
retry never pays twice for a person.
"""

import json
import os
import shlex
import subprocess

import dagster as dg

USAGE, NEEDS_A_PERSON = 2, 3


@dg.asset(retry_policy=dg.RetryPolicy(max_retries=2, delay=60))
def enriched_contacts(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
    """The table enrichment.enriched_contacts, after a run that enriches the export."""
    command = [
        *shlex.split(os.environ.get("ENRICH_COMMAND", "enrich")),
        *["run", os.environ["ENRICH_EXPORT"], "--yes", "--json"],
        *shlex.split(os.environ.get("ENRICH_OPTIONS", "")),
    ]
    # Dagster keeps standard error, which has the progress. The last line of standard output is one JSON object.
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    facts = json.loads((ended.stdout.strip().splitlines() or ["{}"])[-1])
    metadata = metadata_of(facts)
    if ended.returncode == 0:
        return dg.MaterializeResult(metadata=metadata)
    reason = facts.get("error", {}).get("message") or facts.get("reason") or facts.get("status") or "no facts"
    context.log.error(reason)
    raise dg.Failure(
        description=f"enrich ended with exit code {ended.returncode}: {reason}",
        metadata=metadata,
        # A wrong command, or a run that needs the operator, would end the same way again. After a signal, the same
        # command continues the run, or waits for it again.
        allow_retries=ended.returncode not in (USAGE, NEEDS_A_PERSON)
        or facts.get("reason_type") in ("run.interrupted", "run.continues"),
    )


def metadata_of(facts: dict) -> dict:
    """Counts, credits and the next step of a run, for Dagster's catalog."""
    shown = {name: facts.get(name) for name in ("run_id", "status", "rows", "calls", "next")}
    shown |= {f"rows {name}": count for name, count in facts.get("outcomes", {}).items()}
    shown |= {f"credits {name}": value for name, value in facts.get("credits", {}).items()}
    return {name: value for name, value in shown.items() if value is not None}


defs = dg.Definitions(assets=[enriched_contacts])
