import { sql, type Transaction } from 'kysely';
import { contradictionOf } from '../domain/identity/decide-person.ts';
import { rejectedReason, verdictOn } from '../domain/identity/verdicts.ts';
import { filledNote } from '../domain/runs/outcome.ts';
import type { Tables } from '../db/schema.ts';
import { contactKey, type ContactKey } from '../keys/contact-key.ts';
import { timestampOf, type Observation } from './fold.ts';
import type {
  ContactDecided,
  ContactMatch,
  ContactState,
  KnownPerson,
  Neighbourhood,
} from './neighbourhood.ts';
import {
  changedGroups,
  isOfPeople,
  nameOfPerson,
  readPersonValues,
  valuesOfFolded,
  type FoldedRow,
  type PersonName,
  type PersonValues,
} from './people-tables.ts';

/** Why a contact loses its person where it could be another one. */
export const anotherFits = 'another person fits better';
/** Why a contact loses its person whom only a decision gave it. */
const endedReason = 'the decision that confirmed the person has ended';
const nothingShows = 'nothing shows any more that the contact is this person';

/** A person whose observations the step has folded. */
export interface Touched extends FoldedRow {
  readonly observations: readonly Observation[];
}

/** A contact, and who it is now. */
export interface Decision {
  readonly contact: ContactState;
  readonly decided: ContactDecided;
  /** The call that asked for the contact and whose answer has the person. */
  readonly call?: { readonly attemptId: string; readonly runId: string; readonly rowNumber: number };
}

/** A step of the digest that has folded people and decided about contacts. */
interface DigestedStep {
  readonly transaction: Transaction<Tables>;
  /** In microseconds. */
  readonly now: number;
  readonly near: Neighbourhood;
  readonly touched: ReadonlyMap<string, Touched>;
  /** The values of touched people before the step. */
  readonly before: ReadonlyMap<string, PersonValues>;
}

/** What changed for contacts. */
interface ContactFigures {
  /** Contacts that got the data of a known person without a call. */
  readonly filled: number;
  /** Contacts that lost the data of the person whom they were, and got no other. */
  readonly withdrawn: number;
  /** Names of the contacts that got another person. */
  readonly changed: readonly string[];
}

/**
 * Ends and begins matches, notes them at the rows, and appends the changes of contacts to the feed.
 *
 * @param dirty names of the contacts of which something new is known
 */
export async function writeContactChanges(
  step: DigestedStep,
  decisions: readonly Decision[],
  dirty: ReadonlySet<string>,
): Promise<ContactFigures> {
  const changes = decisions.flatMap((decision) => changeOf(step, decision) ?? []);
  const ended = changes.flatMap(({ ends, reason }) => (ends ? [{ matchId: ends, reason }] : []));
  const begun = changes.flatMap(({ begins }) => begins ?? []);
  const renewed = decisions.flatMap(({ contact, decided, call }) =>
    call && decided.person && contact.match?.personKey === decided.person.personKey
      ? [{ matchId: contact.match.matchId, ...call }]
      : [],
  );
  const weighed = decisions.flatMap(({ contact: { match }, decided }) =>
    match && decided.person && isPerson(match, decided.person) && match.evidence !== decided.evidence
      ? [{ matchId: match.matchId, evidence: decided.evidence }]
      : [],
  );
  await changeMatches(step, ended, weighed, renewed);
  if (begun.length > 0)
    await sql`
    insert into contact_matches (source, contact_id, service, person_key, evidence, asked, run_id, row_number,
      attempt_id, valid_from)
    select source, contact_id, service, person_key, evidence, asked, run_id, row_number, attempt_id,
      ${timestampOf(step.now)}::timestamptz
    from jsonb_populate_recordset(null::contact_matches, ${JSON.stringify(begun)}::jsonb)
    order by source, contact_id
  `.execute(step.transaction);
  await writeNotes(step, decisions, dirty);
  await writeFeed(step, changes, renewed);
  return {
    filled: begun.filter(({ asked }) => !asked).length,
    withdrawn: changes.filter(({ begins }) => begins === undefined).length,
    changed: changes.map(({ contact }) => nameOfContact(contact)),
  };
}

/** Ends matches, and writes the evidence and the newest call of others. Most steps do none of these. */
async function changeMatches(
  step: DigestedStep,
  ended: readonly { readonly matchId: string; readonly reason: string | undefined }[],
  weighed: readonly { readonly matchId: string; readonly evidence: string }[],
  renewed: readonly ({ readonly matchId: string } & NonNullable<Decision['call']>)[],
): Promise<void> {
  if (ended.length > 0)
    await sql`
      update contact_matches m set valid_to = ${timestampOf(step.now)}::timestamptz, ended_reason = e.reason
      from jsonb_to_recordset(${JSON.stringify(ended)}::jsonb) as e ("matchId" bigint, reason text)
      where m.match_id = e."matchId"
    `.execute(step.transaction);
  if (weighed.length > 0)
    await sql`
      update contact_matches m set evidence = w.evidence
      from jsonb_to_recordset(${JSON.stringify(weighed)}::jsonb) as w ("matchId" bigint, evidence text)
      where m.match_id = w."matchId"
    `.execute(step.transaction);
  // An answer to an older call can be stored later.
  if (renewed.length > 0)
    await sql`
      update contact_matches m
      set asked = true, run_id = r."runId", row_number = r."rowNumber", attempt_id = r."attemptId"
      from jsonb_to_recordset(${JSON.stringify(renewed)}::jsonb)
        as r ("matchId" bigint, "runId" text, "rowNumber" integer, "attemptId" text)
      where m.match_id = r."matchId"
        and not exists (
          select from attempts newer
          join attempts a on a.attempt_id = r."attemptId" and a.admitted_at < newer.admitted_at
          where newer.attempt_id = m.attempt_id)
    `.execute(step.transaction);
}

function changeOf(step: DigestedStep, { contact, decided, call }: Decision) {
  const { match, service } = contact;
  if (decided.person !== undefined) {
    const { person, evidence, record } = decided;
    if (match && isPerson(match, person)) return undefined;
    const former = call ? undefined : formerMatch(contact, person);
    const asking = call ?? former;
    return {
      contact,
      ends: match?.matchId,
      reason: anotherFits,
      begins: {
        source: contact.source,
        contact_id: contact.contactId,
        service: person.service,
        person_key: person.personKey,
        evidence,
        asked: call !== undefined || former?.asked === true,
        run_id: asking?.runId ?? record.runId,
        row_number: asking?.rowNumber ?? record.rowNumber,
        attempt_id: asking?.attemptId ?? null,
      },
    };
  }
  if (!match) return undefined;
  const current = step.near.person(match.service, match.personKey);
  const newest = contact.records[0]?.compared;
  // Another service has not found the contact: what the former one found stays until the cells contradict it.
  const isKept =
    current !== undefined &&
    newest !== undefined &&
    match.service !== service &&
    contradictionOf(newest.identity, current.person) === undefined;
  if (isKept) return undefined;
  return {
    contact,
    ends: match.matchId,
    reason: whyEnded(contact, decided, current),
    begins: undefined,
  };
}

function whyEnded(
  { match, verdicts, records }: ContactState,
  decided: ContactDecided & { readonly person: undefined },
  current: KnownPerson | undefined,
): string {
  if (current && verdictOn(verdicts, current.compared) === 'rejected') return rejectedReason;
  if (match?.evidence === 'confirmed') return decided.reason ?? endedReason;
  const contradiction =
    current && records[0] && contradictionOf(records[0].compared.identity, current.person);
  return contradiction ?? decided.reason ?? nothingShows;
}

/** Notes at the row of a contact whether it was filled without a call, or why not. */
async function writeNotes(
  step: DigestedStep,
  decisions: readonly Decision[],
  dirty: ReadonlySet<string>,
): Promise<void> {
  const notes = decisions.flatMap(({ contact, decided, call }) => {
    const [record] = contact.records;
    if (!record || call) return [];
    const { runId, rowNumber } = record;
    if (decided.person !== undefined)
      return contact.match?.personKey === decided.person.personKey ||
        formerMatch(contact, decided.person)?.asked
        ? []
        : [{ runId, rowNumber, filled: true, note: filledNote }];
    const isRefused = dirty.has(nameOfContact(contact)) && record.askedAt === null && !contact.match;
    return isRefused && decided.reason !== undefined
      ? [{ runId, rowNumber, filled: false, note: `not filled: ${decided.reason}` }]
      : [];
  });
  if (notes.length === 0) return;
  await sql`
    update run_rows r
    set filled = n.filled,
      reason = concat_ws(
        '; ',
        nullif(regexp_replace(r.reason, ${`(; |^)(not filled: .*|${filledNote})$`}, ''), ''),
        n.note)
    from jsonb_to_recordset(${JSON.stringify(notes)}::jsonb)
      as n ("runId" text, "rowNumber" integer, filled boolean, note text)
    where r.run_id = n."runId" and r.row_number = n."rowNumber"
  `.execute(step.transaction);
}

/** Appends the contacts whose row of `enriched_contacts` changed, each once. */
async function writeFeed(
  step: DigestedStep,
  changes: readonly Change[],
  renewed: readonly { readonly matchId: string }[],
): Promise<void> {
  const people = changes.flatMap(({ contact: { match }, begins }) => [
    ...(match ? [match] : []),
    ...(begins ? [{ service: begins.service, personKey: begins.person_key }] : []),
  ]);
  const untouched = people.filter((person) => !step.touched.has(nameOfPerson(person)));
  const read = await readPersonValues(step.transaction, untouched);
  const was = (person: PersonName) => step.before.get(nameOfPerson(person)) ?? read.get(nameOfPerson(person));
  const now = (person: PersonName) => {
    const touched = step.touched.get(nameOfPerson(person));
    if (!touched) return read.get(nameOfPerson(person));
    return touched.folded && valuesOfFolded(touched.folded);
  };
  const entries = new Map<string, FeedRow>();
  for (const { contact, begins } of changes) {
    const former = contact.match && was(contact.match);
    const next = begins && now({ service: begins.service, personKey: begins.person_key });
    entries.set(nameOfContact(contact), {
      operation: begins ? 'upsert' : 'delete',
      source: contact.source,
      contact_id: contact.contactId,
      field_groups: begins ? (changedGroups(former, next) ?? []) : (changedGroups(former, undefined) ?? []),
    });
  }
  const renewedIds = new Set(renewed.map(({ matchId }) => matchId));
  for (const row of await contactsOfTouched(step)) {
    if (entries.has(nameOfContact(row))) continue;
    const groups = changedGroups(was(row), now(row));
    if (groups === undefined && !renewedIds.has(row.matchId)) continue;
    entries.set(nameOfContact(row), {
      operation: 'upsert',
      source: row.source,
      contact_id: row.contactId,
      field_groups: groups ?? [],
    });
  }
  if (entries.size > 0)
    await sql`
    insert into changes (operation, source, contact_id, field_groups)
    select operation, source, contact_id, field_groups
    from jsonb_to_recordset(${JSON.stringify([...entries.values()])}::jsonb)
      as c (operation text, source text, contact_id text, field_groups text[])
    order by source, contact_id
  `.execute(step.transaction);
}

async function contactsOfTouched(
  step: DigestedStep,
): Promise<readonly (ContactKey & PersonName & { readonly matchId: string })[]> {
  if (step.touched.size === 0) return [];
  const { rows } = await sql<
    ContactKey & PersonName & { readonly matchId: string; readonly isOpen: boolean }
  >`
    select source, contact_id as "contactId", service, person_key as "personKey", match_id as "matchId",
      valid_to is null as "isOpen"
    from contact_matches
    where ${isOfPeople([...step.touched.values()])}
  `.execute(step.transaction);
  return rows.filter(({ isOpen }) => isOpen);
}

interface Change {
  readonly contact: ContactState;
  readonly begins: { readonly service: string; readonly person_key: string } | undefined;
}

interface FeedRow {
  readonly operation: 'upsert' | 'delete';
  readonly source: string;
  readonly contact_id: string;
  readonly field_groups: readonly string[];
}

export function nameOfContact({ source, contactId }: ContactKey): string {
  return contactKey(source, contactId);
}

/** The earlier match of a contact with a person, by a call or by a record that counts: a revert begins it again. */
function formerMatch({ matches, records }: ContactState, person: PersonName): ContactMatch | undefined {
  return matches.find(
    (each) => isPerson(each, person) && (each.asked || records.some(({ runId }) => runId === each.runId)),
  );
}

function isPerson(one: PersonName, other: PersonName): boolean {
  return one.service === other.service && one.personKey === other.personKey;
}
