-- Finds contacts that differ between the replica and the table. Run it while no run is in progress, because changes
-- that are newer than the replica also differ.
select source, contact_id
from (select source, contact_id, person_id, email, phone, title from {{ ref('contact_replica') }} where not is_deleted) r
full join {{ source('enrichment', 'enriched_contacts') }} c using (source, contact_id)
where (r.person_id, r.email, r.phone, r.title) is distinct from (c.person_id, c.email, c.phone, c.title)
