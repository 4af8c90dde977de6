import { sql, type Transaction } from 'kysely';
import { contradictionOf } from '../domain/identity/decide-person.ts';
import { rejectedReason, verdictOnPerson } from '../domain/identity/verdicts.ts';
import { filledWithoutCallNote } from '../domain/runs/outcome.ts';
import type { Tables } from '../db/schema.ts';
import { contactKeyText, type ContactKey } from '../keys/contact-key.ts';
import { microsecondsToTimestamp } from './fold.ts';
import type {
  PersonOfContact,
  ContactMatch,
  ContactState,
  KnownPerson,
  Neighbourhood,
} from './neighbourhood.ts';
import {
  changedFieldGroups,
  isAboutPeople,
  personReferenceText,
  readPersonValues,
  valuesOfFolded,
  type FoldedPersonRow,
  type PersonReference,
  type PersonValues,
} from './people-tables.ts';

/** Reason why a contact loses its person to a better match. */
export const betterMatchReason = 'another person fits better';
/** Reason why a contact loses a person that only a decision of the operator assigned. */
const endedReason = 'the decision that confirmed the person has ended';
const nothingShows = 'nothing shows any more that the contact is this person';

/** A contact, and the digest's decision which person the contact is. */
export interface ContactWithPerson {
  readonly contact: ContactState;
  readonly decided: PersonOfContact;
}

interface Decision extends ContactWithPerson {
  /** The newest call for this contact with the decided person in its answer; undefined if there is none. */
  readonly call:
    | { readonly attemptId: string; readonly runId: string; readonly rowNumber: number }
    | undefined;
}

/** A step of the digest after it has recomputed people and decided about contacts. */
interface DecidedStep {
  readonly transaction: Transaction<Tables>;
  /** Time of the step, in microseconds since 1970. */
  readonly now: number;
  readonly near: Neighbourhood;
  /** People that the step has recomputed, by `personReferenceText`. */
  readonly touched: ReadonlyMap<string, FoldedPersonRow>;
  /** Values that the recomputed people had before the step, by `personReferenceText`. */
  readonly before: ReadonlyMap<string, PersonValues>;
}

/**
 * Ends and begins matches of contacts, writes notes to the rows of these contacts, and appends the changes to the feed.
 *
 * @param dirty keys of contacts that were queued for a new decision
 * @param decisions one per contact that the step looked at, changed or not
 */
export async function writeContactChanges(
  step: DecidedStep,
  decisions: readonly Decision[],
  dirty: ReadonlySet<string>,
) {
  const changes = decisions.flatMap((decision) => changeOf(step, decision) ?? []);
  // Matches that keep their person, and get a newer call as their origin or (after an undo) the call of the former
  // match.
  const renewed = decisions.flatMap(({ contact, decided, call }) => {
    const { match } = contact;
    if (!match || match.personKey !== decided.person?.personKey) return [];
    if (call) return { matchId: match.matchId, asked: true, ...call };
    const former = match.asked ? undefined : formerMatch(contact, match);
    if (!former || former.runId === match.runId) return [];
    const { asked, runId, rowNumber, attemptId } = former;
    return { matchId: match.matchId, asked, runId, rowNumber, attemptId };
  });
  // Matches that keep their person for another reason, for example now by e-mail instead of name and employer.
  const weighed = decisions.flatMap(({ contact, decided }) =>
    contact.match &&
    decided.person &&
    isPerson(contact.match, decided.person) &&
    contact.match.evidence !== decided.evidence
      ? { name: contactKeyText(contact), matchId: contact.match.matchId, evidence: decided.evidence }
      : [],
  );
  await changeMatches(step, changes, weighed, renewed);
  await writeNotes(step, decisions, dirty);
  await writeFeed(step, changes, new Set(renewed.map(({ matchId }) => matchId)));
  return {
    /** Number of contacts that got the data of a known person without a call. */
    filled: changes.filter(({ begins }) => begins?.asked === false).length,
    /** Number of contacts that lost their person and got no other. */
    withdrawn: changes.filter(({ begins }) => begins === undefined).length,
    /** Keys of contacts with another person, or with new evidence for the same person. */
    changed: [...changes.map(({ contact }) => contactKeyText(contact)), ...weighed.map(({ name }) => name)],
  };
}

/**
 * Ends and begins matches. Matches that stay get their new evidence, newest call or first run. Most steps change none
 * of these, so each statement is optional.
 */
async function changeMatches(
  { transaction, now }: DecidedStep,
  changes: readonly Change[],
  weighed: readonly { readonly matchId: string; readonly evidence: string }[],
  renewed: readonly { readonly matchId: string }[],
): Promise<void> {
  const moment = microsecondsToTimestamp(now);
  const ended = changes.flatMap(({ ends, reason }) => (ends ? { matchId: ends, reason } : []));
  if (ended.length > 0)
    await sql`
      update contact_matches m set valid_to = ${moment}::timestamptz, ended_reason = e.reason
      from jsonb_to_recordset(${JSON.stringify(ended)}::jsonb) as e ("matchId" bigint, reason text)
      where m.match_id = e."matchId"
    `.execute(transaction);
  if (weighed.length > 0)
    await sql`
      update contact_matches m set evidence = w.evidence
      from jsonb_to_recordset(${JSON.stringify(weighed)}::jsonb) as w ("matchId" bigint, evidence text)
      where m.match_id = w."matchId"
    `.execute(transaction);
  // The answer to an older call can be stored after the answer to a newer call. Only the newest call counts.
  if (renewed.length > 0)
    await sql`
      update contact_matches m
      set asked = r.asked, run_id = r."runId", row_number = r."rowNumber", attempt_id = r."attemptId"
      from jsonb_to_recordset(${JSON.stringify(renewed)}::jsonb)
        as r ("matchId" bigint, asked boolean, "runId" text, "rowNumber" integer, "attemptId" text)
      where m.match_id = r."matchId"
        and not exists (
          select from attempts newer
          join attempts a on a.attempt_id = r."attemptId" and a.admitted_at < newer.admitted_at
          where newer.attempt_id = m.attempt_id)
    `.execute(transaction);
  const begun = changes.flatMap(({ begins }) => begins ?? []);
  if (begun.length > 0)
    await sql`
      insert into contact_matches (source, contact_id, service, person_key, evidence, asked, run_id, row_number,
        attempt_id, valid_from)
      select source, contact_id, service, person_key, evidence, asked, run_id, row_number, attempt_id,
        ${moment}::timestamptz
      from jsonb_populate_recordset(null::contact_matches, ${JSON.stringify(begun)}::jsonb)
      order by source, contact_id
    `.execute(transaction);
}

type Change = NonNullable<ReturnType<typeof changeOf>>;

/** The match to end and the match to begin for a contact; undefined if its person, or lack of one, stays. */
function changeOf(step: DecidedStep, { contact, decided, call }: Decision) {
  const { match, service } = contact;
  if (decided.person !== undefined) {
    const { person, evidence, record } = decided;
    if (match && isPerson(match, person)) return undefined;
    const former = call ? undefined : formerMatch(contact, person);
    const asking = call ?? former;
    const begins = {
      source: contact.source,
      contact_id: contact.contactId,
      service: person.service,
      person_key: person.personKey,
      evidence,
      asked: call !== undefined || former?.asked === true,
      run_id: asking?.runId ?? record.runId,
      row_number: asking?.rowNumber ?? record.rowNumber,
      attempt_id: asking?.attemptId ?? null,
    };
    return { contact, ends: match?.matchId, reason: betterMatchReason, begins };
  }
  if (!match) return undefined;
  const current = step.near.person(match);
  const newest = contact.records[0]?.compared;
  // After a switch to another service, the contact keeps the person of the former service until its cells contradict
  // this person.
  const isKept =
    current !== undefined &&
    newest !== undefined &&
    match.service !== service &&
    contradictionOf(newest.identity, current.person) === undefined;
  if (isKept) return undefined;
  return { contact, ends: match.matchId, reason: reasonOfEnd(contact, decided, current), begins: undefined };
}

/**
 * The reason that a contact loses its person: the operator's rejection, the end of a confirmation, a contradiction of
 * the cells, or the reason of the decision.
 */
function reasonOfEnd(
  { match, verdicts, records }: ContactState,
  { reason }: PersonOfContact & { readonly person: undefined },
  current: KnownPerson | undefined,
): string {
  if (current && verdictOnPerson(verdicts, current.compared) === 'rejected') return rejectedReason;
  if (match?.evidence === 'confirmed') return reason ?? endedReason;
  const contradiction =
    current && records[0] && contradictionOf(records[0].compared.identity, current.person);
  return contradiction ?? reason ?? nothingShows;
}

/** Writes to the newest row of each contact whether a person was found for it without a call, or why not. */
async function writeNotes(
  { transaction }: DecidedStep,
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
        : { runId, rowNumber, filled: true, note: filledWithoutCallNote };
    /** A note only for queued contacts that no call was made for; a call writes its own reason. */
    const isRefused = dirty.has(contactKeyText(contact)) && record.askedAt === null && !contact.match;
    return isRefused && decided.reason !== undefined
      ? { runId, rowNumber, filled: false, note: `not filled: ${decided.reason}` }
      : [];
  });
  if (notes.length === 0) return;
  await sql`
    update run_rows r
    set filled = n.filled,
      reason = concat_ws(
        '; ',
        nullif(regexp_replace(r.reason, ${`(; |^)(not filled: .*|${filledWithoutCallNote})$`}, ''), ''),
        n.note)
    from jsonb_to_recordset(${JSON.stringify(notes)}::jsonb)
      as n ("runId" text, "rowNumber" integer, filled boolean, note text)
    where r.run_id = n."runId" and r.row_number = n."rowNumber"
  `.execute(transaction);
}

/**
 * Appends one change to the feed for each contact with a changed row of `enriched_contacts`. A changed person
 * (`touched`) changes the rows of all its contacts.
 *
 * @param renewed ids of matches that got a newer call
 */
async function writeFeed(
  { transaction, touched, before }: DecidedStep,
  changes: readonly Change[],
  renewed: ReadonlySet<string>,
): Promise<void> {
  const beginning = ({ begins }: Change) =>
    begins && { service: begins.service, personKey: begins.person_key };
  const people = changes
    .flatMap((change) => [change.contact.match, beginning(change)])
    .filter((person) => person !== undefined);
  const untouched = people.filter((person) => !touched.has(personReferenceText(person)));
  const read = await readPersonValues(transaction, untouched);
  const was = (person: PersonReference) =>
    before.get(personReferenceText(person)) ?? read.get(personReferenceText(person));
  const now = (person: PersonReference) => {
    const row = touched.get(personReferenceText(person));
    return row ? row.folded && valuesOfFolded(row.folded) : read.get(personReferenceText(person));
  };
  const entryOf = ({ source, contactId }: ContactKey, operation: string, groups: readonly string[] = []) => ({
    operation,
    source,
    contact_id: contactId,
    field_groups: groups,
  });
  const entries = new Map(
    changes.map((change) => {
      const { contact } = change;
      const next = beginning(change);
      const groups = changedFieldGroups(contact.match && was(contact.match), next && now(next));
      return [contactKeyText(contact), entryOf(contact, next ? 'upsert' : 'delete', groups)];
    }),
  );
  const known = [...touched.values()].filter((person) => before.has(personReferenceText(person)));
  for (const row of await contactsOf(transaction, known)) {
    const groups = changedFieldGroups(was(row), now(row));
    if (!entries.has(contactKeyText(row)) && (groups !== undefined || renewed.has(row.matchId)))
      entries.set(contactKeyText(row), entryOf(row, 'upsert', groups));
  }
  if (entries.size > 0)
    await sql`
      insert into changes (operation, source, contact_id, field_groups)
      select operation, source, contact_id, field_groups
      from jsonb_to_recordset(${JSON.stringify([...entries.values()])}::jsonb)
        as c (operation text, source text, contact_id text, field_groups text[])
      order by source, contact_id
    `.execute(transaction);
}

/** Contacts that have one of these people now, with their open match. */
async function contactsOf(transaction: Transaction<Tables>, people: readonly PersonReference[]) {
  if (people.length === 0) return [];
  const { rows } = await sql<ContactKey & PersonReference & Pick<ContactMatch, 'matchId' | 'isOpen'>>`
    select source, contact_id as "contactId", service, person_key as "personKey", match_id as "matchId",
      valid_to is null as "isOpen"
    from contact_matches
    where ${isAboutPeople(people)}
  `.execute(transaction);
  return rows.filter(({ isOpen }) => isOpen);
}

/**
 * The earlier match of a contact with a person: the newest by a call, or else the first whose run counts. When an undo
 * is reverted, the digest restores this match. The order of undos and reverts does not change the first run.
 */
function formerMatch({ matches, records }: ContactState, person: PersonReference): ContactMatch | undefined {
  const same = matches.filter((each) => isPerson(each, person));
  return (
    same.find(({ asked }) => asked) ??
    same.findLast((each) => records.some(({ runId }) => runId === each.runId))
  );
}

/** True if both are the same person of the same service. */
function isPerson(one: PersonReference, other: PersonReference): boolean {
  return one.service === other.service && one.personKey === other.personKey;
}
