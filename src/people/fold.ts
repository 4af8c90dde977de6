import { worstEmailRank } from '../domain/late-results/expected-results.ts';
import type { Person } from '../domain/identity/person.ts';
import {
  contactFieldGroups,
  personColumns,
  personFieldGroups,
  type ContactColumns,
} from '../domain/warehouse/person-columns.ts';

/** What one answer, delivery or poll contains about a person. Times are microseconds since 1970. */
export interface Observation {
  readonly observationId: number;
  readonly askedAt: number;
  readonly recordedAt: number;
  readonly runId: string;
  readonly attemptId: string;
  readonly organizationKey: string | null;
  /** Facts about the person, in the form of `ObservedFacts.facts`. */
  readonly facts: Readonly<Record<string, unknown>>;
}

type Facts = Readonly<Record<string, unknown>>;

/** A value of a field group (columns that change together, such as city and country), and its observation. */
interface Said {
  readonly value: Facts;
  readonly observationId: number;
}

export type FoldedPerson = ReturnType<typeof foldObservations>;

/**
 * Computes the current and earlier values of a person from all observations. Pure: the order of the list does not
 * matter. For each group of fields, the newest observation with a value wins. Fields of one group change together, and
 * an empty field never removes a value.
 *
 * @param observations of one person, at least one
 */
export function foldObservations(observations: readonly Observation[]) {
  const ordered = observations.toSorted(byAskedAt);
  const moments = [...new Set(ordered.map(({ recordedAt }) => recordedAt))].toSorted(
    (one, other) => one - other,
  );
  const history: (Said & Readonly<Record<'validFrom' | 'validTo', number>> & { readonly group: string })[] =
    [];
  /** Start time of the current value and source of each field group of `enriched_contacts`. */
  const validFrom = new Map<string, number>();
  let before: Values | undefined;
  let now: Values | undefined;
  for (const moment of moments) {
    now = valuesOf(ordered.filter(({ recordedAt }) => recordedAt <= moment));
    for (const group of Object.keys(contactFieldGroups)) {
      const [was, is] = [before?.groups.get(group), now.groups.get(group)];
      if (was && is && was.observationId === is.observationId && isSame(was.value, is.value)) continue;
      if (was) history.push({ ...was, group, validFrom: validFrom.get(group)!, validTo: moment });
      if (is) validFrom.set(group, moment);
      else validFrom.delete(group);
    }
    before = now;
  }
  if (!now) throw new Error('a person without observations has no values');
  return { ...now, validFrom, history };
}

/** Groups of fields that take their whole value from the newest observation with this group. */
const plainGroups = Object.keys(personFieldGroups).filter(
  (group) => !['email', 'phone', 'organization_name'].includes(group),
);

/** Sorts by the time of the call, because an answer can be stored after the answer to a later call. */
function byAskedAt(one: Observation, other: Observation): number {
  return one.askedAt - other.askedAt || one.observationId - other.observationId;
}

type Values = ReturnType<typeof valuesOf>;

/** The values of a person at one time. @param ordered observations up to this time, the oldest first, at least one */
function valuesOf(ordered: readonly Observation[]) {
  /** Value by group of fields. Groups without a value are missing. */
  const said = new Map<string, Said>();
  // A late result only repeats the id of the person, so the id in an answer has precedence.
  const answersLast = [...ordered.filter(isLateResult), ...ordered.filter((each) => !isLateResult(each))];
  for (const group of plainGroups) {
    const last = answersLast.findLast(({ facts }) => facts[group] !== undefined);
    if (last) said.set(group, { value: last.facts[group] as Facts, observationId: last.observationId });
  }
  const employer = employerOf(ordered);
  if (employer) said.set('organization_name', employer);
  const email = emailOf(ordered);
  if (email) said.set('email', email);
  const phones = phonesOf(ordered);
  const [best] = phones;
  if (best?.isUsable)
    said.set('phone', {
      value: { phone: best.phone['number'] },
      observationId: best.phone['observation_id'] as number,
    });
  const employed = ordered.findLast(({ facts }) => facts['employment'] !== undefined);
  return {
    groups: said,
    employment: employed && {
      value: employed.facts['employment'] as readonly unknown[],
      observationId: employed.observationId,
    },
    organizationKey: ordered.findLast(isOfEmployee)?.organizationKey ?? null,
    emails: emailsOf(ordered),
    /** Phone numbers, the best first. */
    phones: phones.map(({ phone }) => phone),
    /** The newest answer, or the newest late result if there is no answer. */
    newest: answersLast.at(-1)!,
  };
}

/** True for a phone or e-mail result that a webhook or poll brought after the answer to the call. */
function isLateResult({ facts }: Observation): boolean {
  return facts['phones'] !== undefined || facts['waterfall_emails'] !== undefined;
}

/** True if the observation names an employer. */
function isOfEmployee({ organizationKey }: Observation): boolean {
  return organizationKey !== null;
}

/**
 * The employer of a person. If the newest answer names the same company and leaves a field empty, the earlier value of
 * this field stays.
 */
function employerOf(ordered: readonly Observation[]): Said | undefined {
  const newest = ordered.findLast(isOfEmployee);
  if (!newest) return undefined;
  const same = ordered.filter(({ organizationKey }) => organizationKey === newest.organizationKey);
  return {
    value: Object.assign({}, ...same.map(({ facts }) => facts['organization_name'])) as Facts,
    observationId: newest.observationId,
  };
}

/**
 * The e-mail of the newest answer, unless a later waterfall search found a better e-mail. A lower rank is better; with
 * equal ranks the answer wins, then the earliest.
 */
function emailOf(ordered: readonly Observation[]): Said | undefined {
  const answered = ordered.findLast(({ facts }) => facts['email'] !== undefined);
  const offer = (by: Observation, address: unknown, isLate: boolean) => ({
    by,
    address: address as Facts & { readonly rank: number },
    isLate,
  });
  const late = ordered
    .flatMap((by) =>
      ((by.facts['waterfall_emails'] ?? []) as Facts[]).map((address) => offer(by, address, true)),
    )
    .filter(
      ({ by, address }) => address.rank < worstEmailRank && (!answered || by.askedAt >= answered.askedAt),
    );
  const offered = answered ? [offer(answered, answered.facts['email'], false), ...late] : late;
  const [best] = offered.toSorted(
    (one, other) =>
      one.address.rank - other.address.rank ||
      Number(one.isLate) - Number(other.isLate) ||
      byAskedAt(one.by, other.by),
  );
  if (!best) return undefined;
  const { rank: _, ...value } = best.address;
  return { value, observationId: best.by.observationId };
}

/**
 * All e-mails of a person, without duplicates. A later observation overwrites the entry of an e-mail, but
 * `profile_observation_id` stays: it marks e-mails that any answer had as the profile's e-mail.
 *
 * @param ordered the oldest first
 */
function emailsOf(ordered: readonly Observation[]): Facts[] {
  const merged = new Map<string, Facts>();
  for (const { facts, observationId } of ordered)
    for (const entry of (facts['emails'] ?? []) as Facts[]) {
      const email = entry['email'] as string;
      merged.set(email, {
        ...merged.get(email),
        ...entry,
        observation_id: observationId,
        ...(entry['kind'] === 'profile' && { profile_observation_id: observationId }),
      });
    }
  return [...merged.values()].toSorted(
    (one, other) =>
      compareTexts(one['kind'], other['kind']) ||
      numberOf(one['position']) - numberOf(other['position']) ||
      compareTexts(one['email'], other['email']),
  );
}

/** All phone numbers of a person without duplicates, the best first. @param ordered the oldest first */
function phonesOf(ordered: readonly Observation[]) {
  const merged = new Map<string, { readonly phone: Facts; readonly askedAt: number }>();
  for (const { facts, observationId, askedAt } of ordered)
    for (const entry of (facts['phones'] ?? []) as Facts[]) {
      const number = entry['number'] as string;
      const phone = { ...merged.get(number)?.phone, ...entry, observation_id: observationId };
      merged.set(number, { phone, askedAt });
    }
  const newest = Math.max(...[...merged.values()].map(({ askedAt }) => askedAt));
  return [...merged.values()]
    .map(({ phone, askedAt }) => ({
      /** Has the form of an entry of `people.phones`. */
      phone: { ...phone, asked_at: microsecondsToTimestamp(askedAt) } as Facts,
      askedAt,
      /** True if the number is not known to be invalid and comes from the newest request. */
      isUsable: isPossible(phone) && askedAt === newest,
    }))
    .toSorted(
      (one, other) =>
        Number(isPossible(other.phone)) - Number(isPossible(one.phone)) ||
        other.askedAt - one.askedAt ||
        ranks.reduce(
          (order, [rank, missing]) =>
            order || numberOf(one.phone[rank], missing) - numberOf(other.phone[rank], missing),
          0,
        ) ||
        compareTexts(one.phone['number'], other.phone['number']),
    );
}

/** False for a number that the service reports as invalid: its `status_rank` is null. */
function isPossible(phone: Facts): boolean {
  return phone['status_rank'] !== null && phone['status_rank'] !== undefined;
}

/** Criteria that rank phone numbers, the most important first. Each has the rank of a missing value. */
const ranks = [
  ['dnc_rank', 0],
  ['status_rank', Number.MAX_SAFE_INTEGER],
  ['e164_rank', 0],
  ['type_rank', 2],
  ['position', 0],
] as const;

/** A rank or position; `missing` if there is none. */
function numberOf(value: unknown, missing = 0): number {
  return typeof value === 'number' ? value : missing;
}

/** Compares by code units, so that the order is the same in every locale. */
function compareTexts(one: unknown, other: unknown): number {
  const [a, b] = [String(one), String(other)];
  return a < b ? -1 : Number(a > b);
}

/** Whether two values of a group are equal, in any order of their fields. */
function isSame(one: Facts, other: Facts): boolean {
  const [a, b] = [one, other].map((value) => JSON.stringify(value, Object.keys(value).toSorted()));
  return a === b;
}

/** Formats a time for PostgreSQL in full precision. @param microseconds since 1970 */
export function microsecondsToTimestamp(microseconds: number): string {
  const milliseconds = Math.floor(microseconds / 1_000);
  const rest = String(microseconds - milliseconds * 1_000).padStart(3, '0');
  return new Date(milliseconds).toISOString().replace('Z', `${rest}+00:00`);
}

/** The columns of a person in table `people`. Null means unknown. */
export function toPersonColumns({ groups: said }: Pick<Values, 'groups'>): ContactColumns & Facts {
  return Object.fromEntries(
    personColumns.map(({ name, group, type }) => {
      const value = said.get(group)?.value[name] ?? null;
      const isWhole = Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 31;
      return [name, type === 'integer' && !isWhole ? null : value];
    }),
  ) as ContactColumns & Facts;
}

/** The value of a group of fields, as column `field_provenance` and the history of a person contain it. */
export function provenanceValue(group: string, value: Facts): Facts {
  return Object.fromEntries(
    personColumns.flatMap(({ name, group: of }) => (of === group ? [[name, value[name] ?? null]] : [])),
  );
}

/**
 * Converts a person to the form in which identities are compared. Only the profile's e-mail counts, because a vendor of
 * a waterfall can confuse people.
 *
 * @param person columns, e-mails and jobs as in table `people`
 */
export function toPersonForIdentity(person: {
  readonly columns: Facts;
  readonly emails: readonly Facts[];
  readonly employment: readonly unknown[];
}): Person {
  const { columns, emails, employment } = person;
  const [profile] = emails
    .filter((entry) => entry['profile_observation_id'] !== undefined)
    .toSorted(
      (one, other) => numberOf(other['profile_observation_id']) - numberOf(one['profile_observation_id']),
    );
  const members: Record<string, unknown> = {};
  const organization: Record<string, unknown> = {
    id: columns['organization_id'],
    primary_domain: columns['organization_domain'],
  };
  for (const { name, person: member, ...column } of personColumns) {
    if (member !== undefined) members[member] = columns[name];
    if ('employer' in column) organization[column.employer] = columns[name];
  }
  return {
    ...members,
    email: profile?.['email'] ?? null,
    email_status: columns['email_status'] ?? null,
    personal_emails: emails.map((entry) => entry['email']),
    organization,
    employment_history: employment,
  } as Person;
}
