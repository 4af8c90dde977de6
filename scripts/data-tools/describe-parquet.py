"""Prints what DuckDB reads in each Parquet file: its rows and, of each column, the type, the nulls and a checksum."""

import json
import sys

import duckdb

# Checksums are independent of the reader's time zone, because DuckDB knows that the times are in UTC.
checksums = {
    "TIMESTAMP WITH TIME ZONE": "sum(epoch_us({0}))",
    "VARCHAR": "md5(string_agg(md5({0}), '' order by md5({0})))",
}
database = duckdb.connect()
database.execute("set timezone = 'Asia/Tokyo'")


def value(query: str) -> str | None:
    found = database.execute(query).fetchone()[0]
    return None if found is None else str(found)


files = {}
for path in sys.argv[1:]:
    columns = {}
    for name, type_, *_ in database.execute(f"describe select * from '{path}'").fetchall():
        checksum = checksums.get(type_, "max(null)").format(f'"{name}"')
        columns[name] = {
            "type": type_,
            "nulls": value(f"""select count(*) from '{path}' where "{name}" is null"""),
            "checksum": value(f"select {checksum} from '{path}'"),
        }
    files[path] = {"rows": value(f"select count(*) from '{path}'"), "columns": columns}
print(json.dumps(files))
