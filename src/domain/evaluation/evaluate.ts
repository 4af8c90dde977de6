import { sameValue } from '../crm/same-value.ts';
import { parseDomain } from '../identity/values/domain-name.ts';
import { compareNameCells } from '../identity/names/name-agreement.ts';
import { matchRate, type MatchRate } from '../runs/match-rate.ts';

/** Fields whose values are compared. */
export const evaluatedFields = [
  'email',
  'phone',
  'title',
  'organization_name',
  'organization_domain',
  'linkedin_url',
  'city',
  'state',
  'country',
] as const;
export type EvaluatedField = (typeof evaluatedFields)[number];

/** Values of a person, from the truth file or from the warehouse. */
export type PersonValues = Readonly<Partial<Record<EvaluatedField | NamePart, string | null>>>;
export type NamePart = 'first_name' | 'last_name' | 'name';

export interface EvaluatedPerson {
  /** Row of the truth file, from 1. */
  readonly row: number;
  /** Null: the warehouse has no data for the contact. */
  readonly contactId: string | null;
  readonly known: PersonValues;
  readonly found: PersonValues;
}

export interface FieldEvaluation {
  readonly field: EvaluatedField;
  /** People of the file whose value is known. */
  readonly known: number;
  /** Of the known, people for whom the warehouse has a value. */
  readonly filled: number;
  /** Of the filled, people whose value in the warehouse is the known one. */
  readonly correct: number;
  /** Filled of known; null: no value is known. */
  readonly coverage: MatchRate | null;
  /** Correct of filled; null: no value is filled. */
  readonly accuracy: MatchRate | null;
}

export interface PeopleEvaluation {
  readonly people: number;
  /** People for whom the warehouse has data. */
  readonly enriched: number;
  readonly fields: readonly FieldEvaluation[];
  /** Enriched people whose name or profile is known. */
  readonly identities_compared: number;
  /** Contacts with the data of another person; without values, because people pass evaluations on. */
  readonly wrong_people: readonly {
    readonly row: number;
    readonly contact_id: string;
    readonly because: 'name' | 'profile';
  }[];
}

/** Comparison of a source's contacts with a file of known values, without any value of a person. */
export interface Evaluation extends PeopleEvaluation {
  readonly source: string;
  /** The column by which people of the file are found. */
  readonly key: 'contact_id' | 'email';
}

/** Compares the warehouse's values with known values; intervals are Wilson's, 95%. */
export function evaluatePeople(people: readonly EvaluatedPerson[]): PeopleEvaluation {
  const enriched = people.filter(({ contactId }) => contactId !== null);
  return {
    people: people.length,
    enriched: enriched.length,
    fields: evaluatedFields.map((field) => evaluateField(field, people)).filter(({ known }) => known > 0),
    identities_compared: enriched.filter(({ known }) => isNamed(known)).length,
    wrong_people: enriched.flatMap(({ row, contactId, known, found }) => {
      const because = contradictionOf(known, found);
      return because === undefined ? [] : [{ row, contact_id: contactId!, because }];
    }),
  };
}

function evaluateField(field: EvaluatedField, people: readonly EvaluatedPerson[]): FieldEvaluation {
  const known = people.filter((person) => person.known[field]);
  const filled = known.filter((person) => person.found[field]);
  const correct = filled.filter((person) => isSame(field, person.known[field]!, person.found[field]!));
  const [all, some, right] = [known.length, filled.length, correct.length];
  return {
    field,
    known: all,
    filled: some,
    correct: right,
    coverage: matchRate({ found: some, answered: all }) ?? null,
    accuracy: matchRate({ found: right, answered: some }) ?? null,
  };
}

function isSame(field: EvaluatedField, one: string, other: string): boolean {
  if (field !== 'organization_domain') return sameValue(field, one, other);
  return (parseDomain(one) ?? one) === (parseDomain(other) ?? other);
}

function isNamed(known: PersonValues): boolean {
  return Boolean(known.linkedin_url || known.name || known.first_name || known.last_name);
}

/**
 * Returns what shows that the data is another person's. The same profile is the same person, even with another name.
 * Different profiles count only without names, because a profile gets another URL after a change of name.
 */
function contradictionOf(known: PersonValues, found: PersonValues): 'name' | 'profile' | undefined {
  const profiles = known.linkedin_url && found.linkedin_url;
  if (profiles && isSame('linkedin_url', known.linkedin_url, found.linkedin_url)) return undefined;
  const names = compareNameCells(known, found);
  if (names === 'differ' || names === 'other_first_name') return 'name';
  return names === 'unknown' && profiles ? 'profile' : undefined;
}
