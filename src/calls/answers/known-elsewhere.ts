import { sql, type Kysely } from 'kysely';
import type { KnownElsewhere } from '../../domain/identity/alignment.ts';
import { readyIdentity, weigh, type ComparedPerson } from '../../domain/identity/identity-evidence.ts';
import { matchKeysOfIdentity, matchKeysOfIdentityKeys } from '../../domain/identity/match-keys.ts';
import { verdictOn, type RowDecision, type Verdicts } from '../../domain/identity/verdicts.ts';
import { isSameContact } from '../../keys/contact-key.ts';
import { asCandidate } from '../../people/contacts/neighbourhood.ts';
import { verdictsOf } from '../../people/decisions/contact-decisions.ts';
import {
  readDecidedPeople,
  recordsOfDecided,
  ByMatchKey,
  identifyingKeys,
  readKnownPeople,
  readKnownRows,
  type KnownPerson,
  type KnownRow,
} from '../../people/known/known-people.ts';
import type { Tables } from '../../db/schema.ts';
import type { OpenPerson } from '../batches/open-people.ts';

/** A call whose answer is to be aligned. */
export interface AnsweredCall {
  readonly attemptId: string;
  readonly source: string;
  readonly service: string;
  /** In the order of `details`. */
  readonly people: readonly OpenPerson[];
  readonly arrived: readonly KnownPerson[];
  readonly decisions: readonly RowDecision[];
}

type AskedRow = Pick<KnownRow, 'source' | 'contactId' | 'compared' | 'verdicts'> & {
  /**
   * Only weak evidence, such as a name with an employer, connects the row with people of the answer. So everybody of
   * the row's name is looked up: the row could be one of them. Other rows are looked up by their identifiers.
   */
  readonly isWeaklyFound: boolean;
  /** Match keys of the known people who could be the row. */
  readonly keysToLookUp: readonly number[];
};

/** Reads what other answers and other rows say about the rows and the people of a call. */
export async function readElsewhere(database: Kysely<Tables>, call: AnsweredCall): Promise<KnownElsewhere> {
  const { attemptId, service, arrived } = call;
  const asked = askedRows(call);
  const known = await readKnown(database, service, asked, arrived);
  const knownOfRow = knownOfRows(asked, known);
  const ofRows = [...new Set(knownOfRow.flat())];
  const rows = [...asked, ...(await readRivalRows(database, service, asked, [...arrived, ...ofRows]))];
  const lastAskedAt = ofRows.length > 0 ? await startOfRun(database, attemptId) : null;
  return {
    candidatesOf: (row) =>
      knownOfRow[row]!.map((person) => asCandidate(person, { ...asked[row]!, lastAskedAt })),
    othersOf: (row, person) =>
      rows
        .filter((other) => !isSameContact(other, asked[row]!) && !isRejected(other, person))
        .map(({ compared }) => compared),
    verdictsOf: (row) => asked[row]!.verdicts,
  };
}

function askedRows({ source, people, arrived, decisions }: AnsweredCall): AskedRow[] {
  return people.map(({ rowNumber, contactId, identity }) => {
    const compared = readyIdentity(identity);
    const ofRow = decisions.filter((decision) => decision.rowNumber === rowNumber);
    const verdicts = verdictsOf(ofRow, compared);
    const fits = arrived
      .filter((person) => verdictOn(verdicts, person.compared) === undefined)
      .map((person) => weigh(compared, person.compared).strength);
    const isWeaklyFound = fits.includes('weak') && !fits.includes('strong');
    const keysToLookUp = isWeaklyFound
      ? matchKeysOfIdentity(compared.identity)
      : matchKeysOfIdentityKeys(compared.keys);
    return { source, contactId, compared, verdicts, isWeaklyFound, keysToLookUp };
  });
}

/** Reads the known people who could be a row or a person of the answer, and the people whom decisions are about. */
async function readKnown(
  database: Kysely<Tables>,
  service: string,
  asked: readonly AskedRow[],
  arrived: readonly KnownPerson[],
): Promise<readonly KnownPerson[]> {
  const decided = await readDecidedPeople(
    database,
    service,
    asked.map(({ verdicts }) => verdicts),
  );
  const sharing = await readKnownPeople(database, service, {
    matchKeys: [
      ...new Set([...asked.flatMap(({ keysToLookUp }) => keysToLookUp), ...arrived.flatMap(identifyingKeys)]),
    ],
  });
  return [...new Map([...decided, ...sharing].map((person) => [person.personKey, person])).values()];
}

function knownOfRows(asked: readonly AskedRow[], known: readonly KnownPerson[]): KnownPerson[][] {
  const byKey = new ByMatchKey(known);
  return asked.map(({ keysToLookUp, verdicts }) => [
    ...new Set([...byKey.sharing(keysToLookUp), ...recordsOfDecided(byKey, verdicts)]),
  ]);
}

/** Reads rows outside of the call that could be the people whom weak evidence connects with rows of the call. */
async function readRivalRows(
  database: Kysely<Tables>,
  service: string,
  asked: readonly AskedRow[],
  people: readonly KnownPerson[],
): Promise<readonly KnownRow[]> {
  const weaklyFound = asked.filter(({ isWeaklyFound }) => isWeaklyFound);
  const weaklyFitting = people.filter((person) =>
    weaklyFound.some(({ compared }) => weigh(compared, person.compared).strength === 'weak'),
  );
  return readKnownRows(database, service, [...new Set(weaklyFitting.flatMap(({ matchKeys }) => matchKeys))]);
}

async function startOfRun(database: Kysely<Tables>, attemptId: string): Promise<Date> {
  const { rows } = await sql<{ created_at: Date }>`
    select runs.created_at from attempts join runs using (run_id) where attempt_id = ${attemptId}
  `.execute(database);
  return rows[0]!.created_at;
}

function isRejected({ verdicts }: { readonly verdicts: Verdicts }, person: ComparedPerson): boolean {
  return verdictOn(verdicts, person) === 'rejected';
}
