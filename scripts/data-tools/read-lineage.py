"""Reads OpenLineage events with the classes that the project generates from its specification, and prints them again.

The classes refuse missing fields, unknown fields, and wrong times, URIs and UUIDs.
"""

import importlib
import json
import re
import sys

from openlineage.client.generated import base
from openlineage.client.serde import Serde


def facet(name: str, fields: dict) -> base.BaseFacet:
    kind = re.search(r"/([A-Za-z]+)Facet\.json#", fields["_schemaURL"]).group(1)
    module = re.sub(r"(?<!^)(?=[A-Z])", "_", kind).lower()
    known = getattr(importlib.import_module(f"openlineage.client.generated.{module}"), f"{kind}Facet")
    assert fields["_schemaURL"] == known._get_schema(), f"{name}: {fields['_schemaURL']}"
    read = known(**{key: value for key, value in fields.items() if not key.startswith("_")})
    read._producer = fields["_producer"]
    return read


def facets(of: dict) -> dict:
    return {name: facet(name, fields) for name, fields in of.items()}


def event(read: dict) -> base.RunEvent:
    assert read.pop("schemaURL") == base.RunEvent._get_schema()
    run, job = read.pop("run"), read.pop("job")
    return base.RunEvent(
        eventType=base.EventType(read.pop("eventType")),
        run=base.Run(**{**run, "facets": facets(run["facets"])}),
        job=base.Job(**job),
        inputs=[base.InputDataset(**each) for each in read.pop("inputs")],
        outputs=[
            base.OutputDataset(**{**each, "outputFacets": facets(each.get("outputFacets", {}))})
            for each in read.pop("outputs")
        ],
        **read,
    )


events = json.load(open(sys.argv[1]))
print(json.dumps([json.loads(Serde.to_json(event(each))) for each in events]))
