"""Loads enriched contacts from PostgreSQL into a warehouse with dlt: all of them first, then only what changed.

Settings: DATABASE_URL (warehouse of enrich), DESTINATION (as dlt names it, such as snowflake or bigquery; default:
duckdb, a file in this folder). Run it after each run of enrich, and with --full if RETENTION has removed changes
before they were loaded.
"""

import os
import sys

import dlt
import psycopg2
import psycopg2.extras

newest_removed = "select coalesce(max(pruned_change_id), 0) from enrichment.changes_pruned"
changed = "select *, operation = 'delete' as is_deleted from enrichment.contact_changes where change_id > %s"


@dlt.resource(
    name="contacts",
    primary_key=("source", "contact_id"),
    write_disposition="merge",
    columns={
        "is_deleted": {"data_type": "bool", "hard_delete": True},
        "departments": {"data_type": "json"},
    },
)
def contacts(change_id=dlt.sources.incremental("change_id", range_start="open")):
    """Reads the newest change of each contact. A contact that was deleted is removed from the loaded table."""
    with psycopg2.connect(os.environ["DATABASE_URL"]) as database:
        database.set_session(isolation_level="REPEATABLE READ", readonly=True)
        with database.cursor() as removed:
            removed.execute(newest_removed)
            if change_id.last_value is not None and removed.fetchone()[0] > change_id.last_value:
                raise RuntimeError("RETENTION has removed changes that were not read: load again with --full")
        with database.cursor("changes", cursor_factory=psycopg2.extras.RealDictCursor) as rows:
            rows.execute(changed, (-1 if change_id.last_value is None else change_id.last_value,))
            for row in rows:
                yield dict(row)


pipeline = dlt.pipeline(
    pipeline_name="enrich_contacts",
    destination=os.environ.get("DESTINATION", "duckdb"),
    dataset_name="enrich",
)
print(pipeline.run(contacts(), refresh="drop_sources" if "--full" in sys.argv else None))
