select source, contact_id, person_id, first_name, last_name, email, email_status, phone, title, headline, seniority,
  departments, city, state, country, linkedin_url, profile_url, organization_id, organization_name, organization_domain,
  organization_industry, organization_employees, run_id, attempt_id, service, person_key,
  enriched_at at time zone 'UTC' as enriched_at_utc
from {{ source('enrichment', 'enriched_contacts') }}
