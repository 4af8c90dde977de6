select source, contact_id, field_group, value, run_id, attempt_id, delivery_id,
  valid_from at time zone 'UTC' as valid_from_utc,
  valid_to at time zone 'UTC' as valid_to_utc,
  valid_to is null as is_current
from {{ source('enrichment', 'contact_history') }}
