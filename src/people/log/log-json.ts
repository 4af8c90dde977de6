import { createHash } from 'node:crypto';
import type { ObservedFacts } from './observation.ts';

/** Entries of the log as JSON text, with each company once. */
export interface LogJson {
  /** The entries; `organization_facts` is the hash of the company, or null. */
  readonly observations: string;
  /** `hash` and `facts` of each company. */
  readonly organizations: string;
}

/**
 * Writes entries of the log as JSON. Companies are hashed here: most of an answer describes companies, and PostgreSQL
 * spent a fifth of its time at 60 KB a person on writing them as text again to hash them.
 *
 * @param toJson how values become JSON text: `exactJson` of the service where they can hold exact numbers
 */
export function logJson(
  entries: readonly Pick<ObservedFacts, 'organization'>[],
  toJson: (value: unknown) => string = JSON.stringify,
): LogJson {
  const organizations = new Map<string, string>();
  const observations = entries.map(({ organization, ...entry }) => {
    if (organization === null) return { ...entry, organization_facts: null };
    const facts = toJson(organization);
    const hash = `\\x${createHash('sha256').update(facts).digest('hex')}`;
    organizations.set(hash, facts);
    return { ...entry, organization_facts: hash };
  });
  const each = [...organizations].map(([hash, facts]) => `{"hash":${JSON.stringify(hash)},"facts":${facts}}`);
  return { observations: toJson(observations), organizations: `[${each.join(',')}]` };
}
