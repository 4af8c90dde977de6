import { z } from 'zod';
import type { Organization, Person } from '../../domain/identity/person.ts';
import { pagination, type Page } from './account-answers.ts';
import { readAnswer } from './answer.ts';
import type { Endpoint } from '../failures/failure.ts';
import { organizationSchema } from './schemas/organization.ts';
import { personSchema } from './schemas/person.ts';
import type { HttpAnswer } from '../transport.ts';

const peopleSchema = z.looseObject({ people: z.array(personSchema), pagination });

/** Reads one page of people who fit a search. Pure. */
export function readPeople(answer: HttpAnswer, endpoint: Endpoint): Page<Person> {
  const { data } = readAnswer(answer, endpoint, peopleSchema);
  return { items: data.people, totalPages: data.pagination?.total_pages ?? undefined };
}

/** Reads an enriched company. Pure. */
export function readOrganization(answer: HttpAnswer, endpoint: Endpoint): Organization | undefined {
  const schema = z.looseObject({ organization: organizationSchema.nullish() });
  return readAnswer(answer, endpoint, schema).data.organization ?? undefined;
}
