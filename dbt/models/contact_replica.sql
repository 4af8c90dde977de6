{{ config(materialized='incremental', unique_key=['source', 'contact_id'], on_schema_change='fail') }}
-- A build reads the changes after the last one that an earlier build read. Only transactions that no open transaction
-- can precede are read, so that no change is skipped. A deleted contact stays as its key alone.
with changed as (
  select distinct on (source, contact_id) source, contact_id, transaction_id, change_id
  from {{ source('enrichment', 'changes') }} h
  where transaction_id < pg_snapshot_xmin(pg_current_snapshot())
  {% if is_incremental() %}
    and not exists (
      select 1
      from (select transaction_id, change_id from {{ this }} order by 1 desc, 2 desc limit 1) k
      where (h.transaction_id, h.change_id) <= (k.transaction_id::text::xid8, k.change_id))
  {% endif %}
  order by source, contact_id, transaction_id desc, change_id desc
)
select source, contact_id,
  coalesce(h.transaction_id::text::bigint, 0) as transaction_id,
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
