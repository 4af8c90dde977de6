select c.source, f.field,
  count(*) as contacts,
  count(*) filter (where f.is_known) as contacts_with_field,
  round(count(*) filter (where f.is_known)::numeric / count(*), 4) as share
from {{ source('enrichment', 'enriched_contacts') }} c
cross join lateral (
  values ('email', c.email is not null),
    ('verified_email', c.email is not null and coalesce(lower(c.email_status) = 'verified', false)),
    ('phone', c.phone is not null),
    ('title', c.title is not null),
    ('seniority', c.seniority is not null),
    ('city', c.city is not null),
    ('country', c.country is not null),
    ('organization_name', c.organization_name is not null),
    ('organization_domain', c.organization_domain is not null),
    ('linkedin_url', c.linkedin_url is not null)
) f (field, is_known)
group by c.source, f.field
