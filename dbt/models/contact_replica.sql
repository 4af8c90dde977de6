{{ config(materialized='incremental', unique_key=['source', 'contact_id'], on_schema_change='fail') }}
-- A build reads the changes after the last one that an earlier build read. Their numbers are in the order of commits. A
-- deleted contact stays as its key alone.
with changed as (
  select source, contact_id, max(change_id) as change_id
  from {{ source('enrichment', 'changes') }}
  {% if is_incremental() %}
  where change_id > (select coalesce(max(change_id), 0) from {{ this }})
  {% endif %}
  group by source, contact_id
)
select source, contact_id,
  coalesce(h.change_id, 0) as change_id,
  c.source is null as is_deleted,
  c.person_id, c.first_name, c.last_name, c.email, c.email_status, c.phone, c.title, c.organization_name,
  c.organization_domain, c.linkedin_url,
  c.enriched_at at time zone 'UTC' as enriched_at_utc
from changed h
{% if is_incremental() %}
left join {{ source('enrichment', 'enriched_contacts') }} c using (source, contact_id)
{% else %}
full join {{ source('enrichment', 'enriched_contacts') }} c using (source, contact_id)
{% endif %}
