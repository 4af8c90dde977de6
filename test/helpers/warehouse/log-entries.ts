import type { Warehouse } from '../../../src/db/database.ts';
import { matchKeysOfIdentity } from '../../../src/domain/identity/match-keys.ts';
import { writeFacts } from './write-facts.ts';

/** One entry of the log about a person, as a test writes it. */
export interface Said {
  readonly person: string;
  readonly kind?: 'answer' | 'phones' | 'waterfall';
  readonly askedAt: string;
  readonly recordedAt?: string;
  readonly runId: string;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly organizationKey?: string;
}

const service = 'test';

/** Appends an observation and computes the person anew. */
export async function say(warehouse: Warehouse, said: Said): Promise<void> {
  const {
    person,
    kind = 'answer',
    askedAt,
    recordedAt = askedAt,
    runId,
    facts,
    organizationKey = null,
  } = said;
  await writeFacts(warehouse, service, [
    {
      personKey: person,
      person_id: person,
      kind,
      askedAt,
      recordedAt,
      runId,
      attemptId: `attempt-${runId}`,
      deliveryId: kind === 'answer' ? null : `delivery-${runId}`,
      organization_key: organizationKey,
      organization: organizationKey === null ? null : {},
      identity_keys: [],
      match_keys: matchKeysOfIdentity({ personId: person }),
      facts: { ...(kind === 'answer' && { person_id: { person_id: person } }), ...facts },
    },
  ]);
}

/** Writes that a contact is a person, or no person, since a time. */
export async function match(
  warehouse: Pick<Warehouse, 'database'>,
  contact: {
    /** Not given: hubspot. */
    readonly source?: string;
    readonly contactId: string;
    readonly person: string | null;
    readonly at: string;
    readonly runId: string;
  },
): Promise<void> {
  const { source = 'hubspot', contactId, person: personKey, at, runId } = contact;
  await writeFacts(warehouse, service, [], [{ source, contactId, personKey, at, runId }]);
}

/** The facts of a title alone. */
export const titled = (title: string): Readonly<Record<string, unknown>> => ({ title: { title } });

/** The facts of a job, as in observations. */
export function job(
  title: string,
  organization: { readonly id?: string; readonly name?: string; readonly domain?: string },
  more: { readonly email?: string; readonly startedOn?: string } = {},
): Record<string, unknown> {
  return {
    title: { title },
    organization_name: {
      ...(organization.name !== undefined && { organization_name: organization.name }),
      ...(organization.id !== undefined && { organization_id: organization.id }),
      ...(organization.domain !== undefined && { organization_domain: organization.domain }),
    },
    ...(more.email !== undefined && {
      email: { email: more.email, email_status: 'verified', rank: 1 },
    }),
    ...(more.startedOn !== undefined && {
      employment: [
        { title, organization_name: organization.name, started_on: more.startedOn, current: true },
      ],
    }),
  };
}
