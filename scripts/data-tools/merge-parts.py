"""Loads the parts of the change feed into DuckDB, merges each with the SQL of the guide, and prints the contacts."""

import json
import re
import sys

import duckdb

guide, *parts = sys.argv[1:]
section = open(guide, encoding="utf-8").read().split("### Merge the changes")[1]
statements = re.search(r"```sql\n(.*?)```", section, re.DOTALL).group(1)
database = duckdb.connect()
database.execute(f"create table contact_changes as select * from '{parts[0]}' where false")
for part in parts:
    database.execute(f"insert into contact_changes by name select * from '{part}'")
    database.execute(statements)
print(json.dumps(database.sql("select source, contact_id, email, title, phone from contacts").fetchall()))
