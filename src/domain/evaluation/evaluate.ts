import { sameValue } from '../crm/same-value.ts';
import { parseDomain } from '../identity/domain-name.ts';
import { compareNames, compareReady } from '../identity/name-agreement.ts';
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

/** What is said of a person. */
export type PersonValues = Readonly<Partial<Record<EvaluatedField | NamePart, string | null>>>;
export type NamePart = 'first_name' | 'last_name' | 'name';

/** A person of the truth file, and what the warehouse has for the contact. */
export interface ComparedPerson {
  /** Of the truth file, from 1. */
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
  /** Those of them for whom the warehouse has a value. */
  readonly filled: number;
  /** Those of these whose value is the known one. */
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
  /** Contacts that hold the data of another person: no values, because evaluations are passed on. */
  readonly wrong_people: readonly {
    readonly row: number;
    readonly contact_id: string;
    readonly because: 'name' | 'profile';
  }[];
}

/** How the contacts of a source compare with a file of known values. No value of a person is in it. */
export interface Evaluation extends PeopleEvaluation {
  readonly source: string;
  /** What says whose the known values are. */
  readonly key: 'contact_id' | 'email';
}

/** Compares what the warehouse has of people with what is known of them; intervals are Wilson's, 95%. */
export function evaluatePeople(people: readonly ComparedPerson[]): PeopleEvaluation {
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

function evaluateField(field: EvaluatedField, people: readonly ComparedPerson[]): FieldEvaluation {
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
 * What shows that the data is another person's. One profile is one person, whatever the name is by now; a profile has
 * another address after a change of name, so it speaks only where no name does.
 */
function contradictionOf(known: PersonValues, found: PersonValues): 'name' | 'profile' | undefined {
  const profiles = known.linkedin_url && found.linkedin_url;
  if (profiles && isSame('linkedin_url', known.linkedin_url, found.linkedin_url)) return undefined;
  const names = compareNames(nameOf(known), nameOf(found));
  if (names === 'differ' || names === 'other_first_name') return 'name';
  return names === 'unknown' && profiles ? 'profile' : undefined;
}

function nameOf({ first_name, last_name, name }: PersonValues): ReturnType<typeof compareReady> {
  return compareReady(first_name, last_name, name);
}
