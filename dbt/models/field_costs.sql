{{ config(enabled=target.type == 'postgres') }}
-- A field is usable if a contact has a value for it now. All credits of a run are counted for each of its fields.
select c.run_id, c.credits_settled, v.field, v.contacts,
  round(c.credits_settled / nullif(v.contacts, 0), 6) as credits_per_contact
from {{ ref('run_costs') }} c
cross join lateral (
  select count(e.email) as email,
    count(e.email) filter (where lower(e.email_status) = 'verified') as verified_email,
    count(e.phone) as phone,
    count(e.title) as title,
    count(e.organization_name) as organization_name,
    count(e.linkedin_url) as linkedin_url
  from {{ source('enrichment', 'run_rows') }} r
  join {{ source('enrichment', 'enriched_contacts') }} e
    on e.run_id = r.run_id and e.row_number = r.row_number and e.contact_id = r.contact_id
  where r.run_id = c.run_id and r.outcome = 'enriched'
) counts
cross join lateral (
  values ('email', counts.email), ('verified_email', counts.verified_email), ('phone', counts.phone),
    ('title', counts.title), ('organization_name', counts.organization_name), ('linkedin_url', counts.linkedin_url)
) v (field, contacts)
