import { appendToLog, lockLog } from './append-to-log.ts';
import { computeProjections } from './compute-projections.ts';
import { peopleAt } from './people-at.ts';
import { projectContacts } from './project-contacts.ts';
import { projectOrganizations } from './project-organizations.ts';
import { projectPeople } from './project-people.ts';

/** Functions that append to the log, and compute the current state of people, companies and contacts from it. */
export const projectionFunctions = [
  `create aggregate enrichment.merge(jsonb) (sfunc = jsonb_concat, stype = jsonb, initcond = '{}')`,
  `create function enrichment.whole(value jsonb) returns integer language sql immutable parallel safe as $$
    select case when jsonb_typeof(value) = 'number' and value::numeric between 0 and 2147483647
        and value::numeric = trunc(value::numeric)
      then value::numeric::integer end
  $$`,

  ...lockLog,
  projectOrganizations,
  peopleAt,
  projectPeople,
  projectContacts,
  ...computeProjections,
  appendToLog,
];
