{{ config(materialized='incremental', unique_key=['source', 'contact_id'], on_schema_change='fail') }}
-- Each build reads the changes after the last one that an earlier build has read. Change numbers follow the order of
-- commits. A deleted contact keeps only its key. Parquet files can have several changes of a contact: the newest
-- counts.
select distinct on (source, contact_id) source, contact_id, change_id,
  operation = 'delete' as is_deleted,
  person_id, first_name, last_name, email, email_status, phone, title, organization_name, organization_domain,
  linkedin_url,
  enriched_at at time zone 'UTC' as enriched_at_utc
from {{ source('enrichment', 'contact_changes') }}
{% if is_incremental() %}
where change_id > (select coalesce(max(change_id), 0) from {{ this }})
{% endif %}
order by source, contact_id, change_id desc
