"""Materializes the asset against the sandbox: once to the end, and once with a budget that is too small."""

import os

import dagster as dg
from enrich_asset import enriched_contacts


def materialize(people: range, options: str) -> dg.ExecuteInProcessResult:
    with open("contacts.csv", "w", encoding="utf-8") as export:
        export.write("id,email,first_name,last_name,company\n")
        for number in people:
            export.write(f"{number},person{number}@acme.example,Ada{number},Moreau{number},Acme\n")
    os.environ |= {"ENRICH_EXPORT": "contacts.csv", "ENRICH_OPTIONS": options}
    return dg.materialize([enriched_contacts], raise_on_error=False)


done = materialize(range(20), "--max-credits 100")
assert done.success
[event] = done.asset_materializations_for_node("enriched_contacts")
assert event.metadata["status"].value == "finished" and event.metadata["rows"].value == 20

waiting = materialize(range(100, 120), "--max-credits 1")
assert not waiting.success
[failed] = waiting.get_step_failure_events()
failure = failed.step_failure_data.user_failure_data
assert "exit code 3" in failure.description
assert not any(event.is_step_up_for_retry for event in waiting.all_events)
assert failure.metadata["rows over_budget"].value > 0
print("Dagster: a finished run is materialized, and exit code 3 fails the asset without a retry")
