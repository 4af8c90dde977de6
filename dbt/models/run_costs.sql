{{ config(enabled=target.type == 'postgres') }}
-- Credits stay reserved until the price of their call is known.
with calls as (
  select run_id,
    count(*) as calls,
    coalesce(sum(credits_settled), 0) as credits_settled,
    coalesce(sum(credits_reserved) filter (where credits_settled is null), 0) as credits_held
  from {{ source('enrichment', 'attempts') }}
  group by run_id
), contacts as (
  select run_id, count(*) as contacts_enriched
  from {{ source('enrichment', 'run_rows') }}
  where outcome = 'enriched'
  group by run_id
)
select r.run_id, r.source, r.status,
  r.created_at at time zone 'UTC' as created_at_utc,
  coalesce(a.calls, 0) as calls,
  coalesce(a.credits_settled, 0) as credits_settled,
  coalesce(a.credits_held, 0) as credits_held,
  coalesce(c.contacts_enriched, 0) as contacts_enriched,
  a.credits_settled / nullif(c.contacts_enriched, 0) as credits_per_contact
from {{ source('enrichment', 'runs') }} r
left join calls a on a.run_id = r.run_id
left join contacts c on c.run_id = r.run_id
