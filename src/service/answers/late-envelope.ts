import { memberSources } from './exact-json.ts';

export interface UnwrappedBody {
  readonly body: object;
  readonly members: ReadonlyMap<string, string>;
}

/** Tests of a member, strongest first. A weaker test decides only if no member passes a stronger test. */
export type MemberTests = readonly ((member: unknown) => boolean)[];

/** What an envelope can say about its body. */
const aboutBody = [
  'request_id',
  'status',
  'target_fields',
  'records_enriched',
  'missing_records',
  'credits_consumed',
];

/** Envelopes with more members or levels are no late results. */
const mostMembers = 100;
const deepest = 3;

/**
 * Opens an envelope: an object whose body, person or list of people is in a member of any name, such as `data`. The
 * interface document shows no envelope, so no name decides. If several members pass a test, none is read, because each
 * could have a price of its own.
 *
 * @param members source texts of the envelope's members
 * @returns the body with what the envelope says about the body; undefined if there is none
 */
export function openEnvelope(
  value: unknown,
  members: ReadonlyMap<string, string>,
  tests: MemberTests,
  depth = 1,
): UnwrappedBody | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const inner = Object.entries(value).filter(([, member]) => typeof member === 'object' && member !== null);
  if (inner.length > mostMembers) return undefined;
  for (const passes of tests) {
    const [only, ...others] = inner.filter(([, member]) => passes(member));
    if (others.length > 0) return undefined;
    if (only) return merge(value, members, only);
  }
  if (depth === deepest) return undefined;
  const opened = inner.flatMap(([name, member]) => {
    const found = openEnvelope(member, memberSources(members.get(name) ?? ''), tests, depth + 1);
    return found ? [found] : [];
  });
  const [only, ...others] = opened;
  if (!only || others.length > 0) return undefined;
  return {
    body: { ...pick(value), ...only.body },
    members: new Map([...members, ...only.members]),
  };
}

function merge(
  envelope: object,
  members: ReadonlyMap<string, string>,
  [name, member]: readonly [string, unknown],
): UnwrappedBody {
  const body = Array.isArray(member) ? { people: member } : (member as object);
  return {
    body: { ...pick(envelope), ...body },
    members: new Map([...members, ...memberSources(members.get(name) ?? '')]),
  };
}

function pick(envelope: object): object {
  return Object.fromEntries(Object.entries(envelope).filter(([name]) => aboutBody.includes(name)));
}
