select observation_id, service, person_id, from_title, from_organization, from_domain, to_title, to_organization,
  to_domain, evidence, run_id, started_at,
  detected_at at time zone 'UTC' as detected_at_utc
from {{ source('enrichment', 'job_changes') }}
