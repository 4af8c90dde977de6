import { worstEmailRank } from '../domain/late-results/late-assignment.ts';
import { personFieldGroups, type FieldGroup } from '../domain/warehouse/person-columns.ts';

/** What one answer, delivery or poll said about a person. Times are microseconds since 1970. */
export interface Observation {
  readonly observationId: number;
  readonly askedAt: number;
  readonly recordedAt: number;
  readonly runId: string;
  readonly attemptId: string;
  readonly organizationKey: string | null;
  /** As `ObservedFacts` of observation.ts. */
  readonly facts: Facts;
}

type Facts = Readonly<Record<string, unknown>>;

/** The value of a group of fields, and the observation that said it. */
interface Said {
  readonly value: Facts;
  readonly observationId: number;
}

/** The current values of a person. */
interface Values {
  /** By group of fields; a group without a value is missing. */
  readonly groups: ReadonlyMap<string, Said>;
  readonly employment: { readonly value: readonly unknown[]; readonly observationId: number } | undefined;
  readonly organizationKey: string | null;
  readonly emails: readonly Facts[];
  /** The best number first. */
  readonly phones: readonly Facts[];
  /** The newest answer; of a person who has only late results, the newest late result. */
  readonly newest: Observation;
}

/** An earlier value of a group of fields. */
export interface ClosedInterval extends Said {
  readonly group: string;
  readonly validFrom: number;
  readonly validTo: number;
}

export interface FoldedPerson extends Values {
  /** Since when each group of fields of `enriched_contacts` has its value and its source. */
  readonly validFrom: ReadonlyMap<string, number>;
  readonly history: readonly ClosedInterval[];
}

/**
 * Computes a person's current and earlier values from everything that was observed. The order of the list does not
 * matter. The newest observation with a value of a group sets the whole group; an empty field never erases a value.
 *
 * @param observations of one person, at least one
 */
export function fold(observations: readonly Observation[]): FoldedPerson {
  const ordered = observations.toSorted(byAskedAt);
  const moments = [...new Set(ordered.map(({ recordedAt }) => recordedAt))].toSorted(
    (one, other) => one - other,
  );
  const history: ClosedInterval[] = [];
  const validFrom = new Map<string, number>();
  let before: Values | undefined;
  let now: Values | undefined;
  for (const moment of moments) {
    now = valuesOf(ordered.filter(({ recordedAt }) => recordedAt <= moment));
    for (const group of contactGroups) {
      const [was, is] = [before?.groups.get(group), now.groups.get(group)];
      if (was && is && isSame(was, is)) continue;
      if (was) history.push({ ...was, group, validFrom: validFrom.get(group)!, validTo: moment });
      if (is) validFrom.set(group, moment);
      else validFrom.delete(group);
    }
    before = now;
  }
  if (!now) throw new Error('a person without observations has no values');
  return { ...now, validFrom, history };
}

const groups = Object.entries<FieldGroup>(personFieldGroups);
const contactGroups = groups.flatMap(([name, { inContacts }]) => (inContacts ? [name] : []));

/** Groups of fields that the newest observation with the group sets as a whole. */
const plainGroups = groups.flatMap(([name]) =>
  ['email', 'phone', 'organization_name'].includes(name) ? [] : [name],
);

function byAskedAt(one: Observation, other: Observation): number {
  return one.askedAt - other.askedAt || one.observationId - other.observationId;
}

/** @param ordered the oldest first, at least one */
function valuesOf(ordered: readonly Observation[]): Values {
  const phones = phonesOf(ordered);
  const said = new Map<string, Said>();
  for (const [group, value] of [
    ...plainGroups.map((each) => [each, newestOf(ordered, each)] as const),
    ['organization_name', employerOf(ordered)] as const,
    ['email', emailOf(ordered)] as const,
    ['phone', bestPhoneOf(phones)] as const,
  ])
    if (value) said.set(group, value);
  return {
    groups: said,
    employment: newestOf<readonly unknown[]>(ordered, 'employment'),
    organizationKey: ordered.findLast(hasEmployer)?.organizationKey ?? null,
    emails: addressesOf(ordered),
    phones: phones.map(({ phone }) => phone),
    newest: ordered.findLast(isAnswer) ?? ordered.at(-1)!,
  };
}

function newestOf<Value = Facts>(
  ordered: readonly Observation[],
  member: string,
): { readonly value: Value; readonly observationId: number } | undefined {
  const newest = ordered.findLast(({ facts }) => facts[member] !== undefined);
  return newest && { value: newest.facts[member] as Value, observationId: newest.observationId };
}

function isAnswer({ facts }: Observation): boolean {
  return facts['phones'] === undefined && facts['waterfall_emails'] === undefined;
}

function hasEmployer({ organizationKey }: Observation): boolean {
  return organizationKey !== null;
}

/** Within one company, a field that the newest answer leaves empty keeps its earlier value. */
function employerOf(ordered: readonly Observation[]): Said | undefined {
  const newest = ordered.findLast(hasEmployer);
  if (!newest) return undefined;
  const same = ordered.filter(({ organizationKey }) => organizationKey === newest.organizationKey);
  return {
    value: Object.assign({}, ...same.map(({ facts }) => facts['organization_name'])) as Facts,
    observationId: newest.observationId,
  };
}

type RankedAddress = Facts & { readonly rank: number };

/** The address of the newest answer, unless a waterfall of the same or a later time has one with a better status. */
function emailOf(ordered: readonly Observation[]): Said | undefined {
  const answered = ordered.findLast(({ facts }) => facts['email'] !== undefined);
  const late = ordered.flatMap((by) =>
    ((by.facts['waterfall_emails'] ?? []) as RankedAddress[])
      .filter(({ rank }) => rank < worstEmailRank && (!answered || by.askedAt >= answered.askedAt))
      .map((address) => ({ address, by })),
  );
  const offered = answered
    ? [{ address: answered.facts['email'] as RankedAddress, by: answered }, ...late]
    : late;
  // The order is stable: of two equal ranks the answer's address wins, then the oldest.
  const [best] = offered.toSorted((one, other) => one.address.rank - other.address.rank);
  if (!best) return undefined;
  const { rank: _, ...value } = best.address;
  return { value, observationId: best.by.observationId };
}

/** All addresses. The address of a profile is still known as such after another list repeats it. */
function addressesOf(ordered: readonly Observation[]): Facts[] {
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

interface DatedPhone {
  /** As an entry of `people.phones`. */
  readonly phone: Facts;
  readonly askedAt: number;
}

/** All numbers, the best first: possible before invalid, then the newest request, then the ranks. */
function phonesOf(ordered: readonly Observation[]): DatedPhone[] {
  const merged = new Map<string, DatedPhone>();
  for (const { facts, observationId, askedAt } of ordered)
    for (const entry of (facts['phones'] ?? []) as Facts[]) {
      const number = entry['number'] as string;
      const source = { observation_id: observationId, asked_at: timestampOf(askedAt) };
      merged.set(number, { phone: { ...merged.get(number)?.phone, ...entry, ...source }, askedAt });
    }
  return [...merged.values()].toSorted(
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

/** A newer request without a possible number leaves a person without a best number. */
function bestPhoneOf(phones: readonly DatedPhone[]): Said | undefined {
  const [best] = phones;
  if (!best || !isPossible(best.phone) || phones.some(({ askedAt }) => askedAt > best.askedAt))
    return undefined;
  const { number, observation_id: observationId } = best.phone;
  return { value: { phone: number }, observationId: observationId as number };
}

function isPossible(phone: Facts): boolean {
  return typeof phone['status_rank'] === 'number';
}

/** Ranks of a number in their order, and what a missing rank counts as. */
const ranks = [
  ['dnc_rank', 0],
  ['status_rank', 0],
  ['e164_rank', 0],
  ['type_rank', 2],
  ['position', 0],
] as const;

function numberOf(value: unknown, missing = 0): number {
  return typeof value === 'number' ? value : missing;
}

function compareTexts(one: unknown, other: unknown): number {
  const [a, b] = [String(one), String(other)];
  return a < b ? -1 : Number(a > b);
}

/** Whether two values of a group have one source and the same fields, in any order. */
function isSame(one: Said, other: Said): boolean {
  return one.observationId === other.observationId && canonical(one.value) === canonical(other.value);
}

function canonical(value: Facts): string {
  return JSON.stringify(value, Object.keys(value).toSorted());
}

/** A time as PostgreSQL writes it in JSON, in full precision. @param microseconds since 1970 */
function timestampOf(microseconds: number): string {
  const seconds = Math.floor(microseconds / 1_000_000);
  const fraction = String(microseconds - seconds * 1_000_000)
    .padStart(6, '0')
    .replace(/0+$/, '');
  const whole = new Date(seconds * 1_000).toISOString().slice(0, 19);
  return `${whole}${fraction && `.${fraction}`}+00:00`;
}
