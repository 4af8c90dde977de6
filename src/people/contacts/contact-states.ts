import { sql, type Kysely, type RawBuilder } from 'kysely';
import { identityOfColumns, type IdentityColumns } from '../../domain/identity/identity.ts';
import {
  isWeak,
  readyIdentity,
  type ComparedIdentity,
  type Evidence,
} from '../../domain/identity/identity-evidence.ts';
import { outcomesAboutPerson } from '../../domain/runs/outcome.ts';
import type { ContactDecision, Verdicts } from '../../domain/identity/verdicts.ts';
import { identityHash } from '../../suppression/drop-suppressed.ts';
import { identityCells } from '../../db/expressions.ts';
import { anyOf } from '../../db/one-of.ts';
import { exportOrder, isValidMatch, isExport, recordOrder } from '../../db/valid-entries.ts';
import { contactOf, unnestRows, type ContactKey, type RowKey } from '../../keys/contact-key.ts';
import type { Tables } from '../../db/schema.ts';
import { decisionsOf, hasDecisions, verdictsOf } from '../decisions/contact-decisions.ts';

/** A contact as its newest row has it, and the person who it is now. */
export interface ContactState extends ContactKey {
  readonly runId: string;
  readonly rowNumber: number;
  readonly compared: ComparedIdentity;
  /** A call has asked for the contact, under a key that the row still has. */
  readonly wasAsked: boolean;
  /** When the run of the row began, if that run asked for the contact. */
  readonly lastAskedAt: Date | null;
  readonly personKey: string | null;
  readonly evidence: Evidence | null;
  /** No row with these cells has been compared with the contact's person. */
  readonly isNewRow: boolean;
  /** Undone runs that said something about the contact. A decision without them may not hold when they come back. */
  readonly ignoredRuns: readonly string[];
  /** The row can only take the contact's person away. */
  readonly isSuppressed: boolean;
  readonly decisions: readonly ContactDecision[] | null;
  readonly verdicts: Verdicts;
}

type StateRow = Omit<ContactState, 'compared' | 'verdicts'> & IdentityColumns;

/** The cells of a contact, the row `c`, in the newest export of those that the log has, without undone runs. */
export const newestRecord = sql`
  select k.* from contact_records k
  join runs u on u.run_id = k.run_id and u.undone_at is null
  where k.source = c.source and k.contact_id = c.contact_id
  order by ${sql.raw(exportOrder('u'))} desc, k.recorded_at desc
  limit 1`;

/**
 * The newest decision of the log about a contact. The contact itself has another one while an undo or a revert is
 * unfinished, which decides about it at its end.
 */
const newestMatch = (source: RawBuilder<unknown>, contactId: RawBuilder<unknown>) => sql`
  select m.match_id, m.person_key
  from contact_matches m
  where m.source = ${source}
    and m.contact_id = ${contactId}
    and ${sql.raw(isValidMatch('m'))}
  order by m.decided_at desc, m.match_id desc
  limit 1`;

const decidedOfRow = newestMatch(sql`runs.source`, sql`r.contact_id`);

/** A contact `c` is as the log has it. */
const isProjected = sql`c.match_id = (select match_id from (${newestMatch(sql`c.source`, sql`c.contact_id`)}) decided)`;

/**
 * Reads rows whose contact has no person, or other cells than those by which its person was decided. Suppressed rows,
 * rows of contested records, and rows without an identity that name somebody, are read only of contacts that have a
 * person. A contact with a person of another service is read if an undone run had replaced that person, and the row
 * was not asked for because of the answers of that run. A row says nothing where a newer export has its contact, also
 * of a run that has not ended: the record may have become somebody else. Nor does a row whose cells retention has
 * removed. All other rows of contacts with decisions (`enrich review`) are read.
 *
 * @param which over `r`, a row of a run
 * @param withCompared also rows with the cells by which a contact was decided. After an undo the contact can have a
 *   person with whom these cells were not compared: another person was valid when the row arrived.
 */
export async function readRowsToDecide(
  database: Kysely<Tables>,
  service: string,
  which: RawBuilder<boolean>,
  withCompared = false,
): Promise<ContactState[]> {
  const contacts = await readStates(
    database,
    service,
    sql`
      select runs.source, r.contact_id, r.run_id, r.row_number, r.keys,
        ${identityCells('r')}, true as is_new_row
      from run_rows r
      join runs on runs.run_id = r.run_id
      left join lateral (${contactOf(sql`runs.source`, sql`r.contact_id`)}) c on true
      where ${which}
        and case when c.contact_id is null
          then r.keys <> '{}' and r.outcome is distinct from 'suppressed' and not r.is_contested
            and not exists (select from (${decidedOfRow}) decided where decided.person_key is not null)
          when c.service <> ${service} then r.outcome = 'fresh'
            and r.keys <> '{}'
            and not r.is_contested
            and exists (
              select from contact_matches m
              join runs u on u.run_id = m.run_id and u.undone_at is not null
              join contact_matches present on present.match_id = c.match_id
              where m.source = c.source
                and m.contact_id = c.contact_id
                and m.service = ${service}
                and m.person_key is not null
                and (m.decided_at, m.match_id) > (present.decided_at, present.match_id)
            )
            and ${isProjected}
          else c.service = ${service}
            and ${isProjected}
            and (
              r.keys <> '{}'
              or r.identity_hash is not null
              or coalesce(r.first_name, r.last_name, r.name) is not null
            )
            and (
              ${hasDecisions(sql`runs.source`, sql`r.contact_id`)}
              or c.run_id <> r.run_id
              and not exists (
                select from (${newestRecord}) k
                join contact_matches m on m.match_id = c.match_id
                where (m.run_id = k.run_id or m.recorded_at <= k.recorded_at)
                  and (
                    not ${withCompared} and row(${identityCells('k')}) is not distinct from row(${identityCells('r')})
                    or r.identity_hash = ${identityHash('k')}
                  )
              )
            )
        end`,
  );
  return withoutStale(database, contacts);
}

/**
 * Reads contacts that have a person now, with their newest cells.
 *
 * @param which query of `source` and `contact_id`, each pair once
 * @param isNewRow whether the newest cells have not been compared with the person
 */
export async function readMatchedContacts(
  database: Kysely<Tables>,
  service: string,
  which: RawBuilder<unknown>,
  isNewRow = false,
): Promise<ContactState[]> {
  return readStates(
    database,
    service,
    sql`
      select k.source, k.contact_id, k.run_id, k.row_number, k.keys, ${identityCells('k')},
        ${isNewRow}::boolean as is_new_row
      from (${which}) as named
      cross join lateral (${contactOf(sql`named.source`, sql`named.contact_id`)}) c
      cross join lateral (${newestRecord}) k
      where c.service = ${service} and ${isProjected}`,
  );
}

/** A contact that has a person, with the cells of its newest record. */
export interface MatchedContact extends ContactKey {
  readonly personKey: string;
  readonly compared: ComparedIdentity;
}

/** Reads only the cells of the contacts that `readMatchedContacts` reads, which costs a fraction of their state. */
export async function readMatchedCells(
  database: Kysely<Tables>,
  service: string,
  which: RawBuilder<unknown>,
): Promise<MatchedContact[]> {
  const { rows } = await sql<Omit<MatchedContact, 'compared'> & IdentityColumns>`
    select c.source, c.contact_id as "contactId", c.person_key as "personKey", ${identityCells('k')}
    from (${which}) as named
    cross join lateral (${contactOf(sql`named.source`, sql`named.contact_id`)}) c
    cross join lateral (${newestRecord}) k
    where c.service = ${service}
    order by c.source, c.contact_id
  `.execute(database);
  return rows.map((row) => ({ ...row, compared: readyIdentity(identityOfColumns(row)) }));
}

const isAnswered = sql`coalesce(own.outcome in (${anyOf(outcomesAboutPerson)}), false)`;

/** Reads contacts by the rows of a query of `source`, `contact_id`, the row, `keys`, the cells and `is_new_row`. */
export async function readStates(
  database: Kysely<Tables>,
  service: string,
  which: RawBuilder<unknown>,
): Promise<ContactState[]> {
  const { rows } = await sql<StateRow>`
    with r as materialized (${which})
    select r.source, r.contact_id as "contactId", r.run_id as "runId", r.row_number as "rowNumber",
      r.is_new_row as "isNewRow", ${identityCells('r')}, c.person_key as "personKey",
      c.evidence, coalesce(own.outcome = 'suppressed' or own.is_contested, false) as "isSuppressed",
      ${decisionsOf(sql`${service}`, sql`r.source`, sql`r.contact_id`)} as decisions,
      array(
        select u.run_id
        from runs u
        where u.undone_at is not null
          and exists (
            select from contact_records k
            where k.source = r.source and k.contact_id = r.contact_id and k.run_id = u.run_id
            union all
            select from contact_matches m
            where m.source = r.source and m.contact_id = r.contact_id and m.run_id = u.run_id)
      ) as "ignoredRuns",
      ${isAnswered} or exists (
        select from contact_matches m
        join contact_records k using (source, contact_id, run_id)
        where m.source = r.source
          and m.contact_id = r.contact_id
          and m.person_key is not null
          and (m.asked or m.match_keys is not null and m.evidence <> 'confirmed')
          and k.keys && r.keys
          and ${sql.raw(isValidMatch('m'))}
      ) as "wasAsked",
      case when ${isAnswered} then runs.created_at end as "lastAskedAt"
    from r
    join runs on runs.run_id = r.run_id
    left join lateral (
      select outcome, is_contested from run_rows where run_id = r.run_id and row_number = r.row_number
      union all
      -- Retention has removed the row.
      select outcome, false from contact_records
      where source = r.source and contact_id = r.contact_id and run_id = r.run_id and row_number = r.row_number
        and outcome is not null
    ) own on true
    left join lateral (${contactOf(sql`r.source`, sql`r.contact_id`)}) c on c.service = ${service}
    order by r.source, r.contact_id
  `.execute(database);
  return rows.map((row) => {
    const compared = readyIdentity(identityOfColumns(row));
    const verdicts = verdictsOf(row.decisions, compared);
    return { ...row, compared, wasAsked: row.wasAsked || isWeak(row.evidence), verdicts };
  });
}

/** Condition on `runs`: other runs decide about the contacts of its rows as well. */
export const isDecided = (service: RawBuilder<unknown>) => sql<boolean>`(runs.finished_at is not null
  and ${sql.raw(isExport('runs'))}
  and runs.options ->> 'service' = ${service})`;

/**
 * Query of the row of a contact in the newest export, the first of its record.
 *
 * @param which condition on the runs, `runs`
 */
export const newestRow = (
  source: RawBuilder<unknown>,
  contactId: RawBuilder<unknown>,
  which: RawBuilder<boolean>,
) => sql`
  select n.*
  -- \`offset 0\` keeps the lookups apart. In a join, PostgreSQL read the rows of all runs.
  from (select * from run_rows where contact_id = ${contactId} offset 0) n
  cross join lateral (select * from runs where run_id = n.run_id offset 0) runs
  where runs.source = ${source} and ${which}
  order by ${sql.raw(exportOrder('runs'))} desc, ${sql.raw(recordOrder('n'))}
  limit 1`;

/**
 * Reads rows of any runs, as far as something is to be decided about their contacts.
 *
 * @param withCompared as for `readRowsToDecide`
 */
export async function readRows(
  database: Kysely<Tables>,
  service: string,
  rows: readonly RowKey[],
  withCompared = false,
): Promise<ContactState[]> {
  if (rows.length === 0) return [];
  const which = sql<boolean>`(r.run_id, r.row_number) in (select * from ${unnestRows(rows)})`;
  return readRowsToDecide(database, service, which, withCompared);
}

/** Query of the contacts of a run's rows, and of the contacts that the run or its undo decided about. */
export const contactsOfRun = (runId: string) => sql`
  select runs.source, r.contact_id
  from run_rows r
  join runs on runs.run_id = r.run_id
  where r.run_id = ${runId}
  union
  select source, contact_id from contact_matches where run_id = ${runId} or while_undone @> array[${runId}]`;

const contactsDecidedBy = (runId: string) => sql`
  select distinct source, contact_id from contact_matches where run_id = ${runId}`;

/**
 * Finds the newest rows that ended runs of the same service have of the contacts of a run.
 *
 * @param which `any`: of all contacts that an undo of the run concerns; `newer`: of newer exports, of the
 *   contacts that it decided about
 */
export async function findNewestRows(
  database: Kysely<Tables>,
  runId: string,
  which: 'any' | 'newer',
): Promise<readonly RowKey[]> {
  const isNamed = sql<boolean>`${isDecided(sql`self.options ->> 'service'`)}
    and (${which === 'any'} or ${sql.raw(exportOrder('runs'))} > ${sql.raw(exportOrder('self'))})`;
  const affected = which === 'any' ? contactsOfRun(runId) : contactsDecidedBy(runId);
  // Materialized: as a part of the join, PostgreSQL read all decisions to find those of the run.
  const { rows } = await sql<RowKey>`
    with affected as materialized (${affected})
    select newest.run_id as "runId", newest.row_number as "rowNumber"
    from runs self
    cross join affected a
    cross join lateral (${newestRow(sql`a.source`, sql`a.contact_id`, isNamed)}) newest
    where self.run_id = ${runId}
    order by a.source, a.contact_id
  `.execute(database);
  return rows;
}

/**
 * Reads contacts to which a run gave a person although a newer export has the contact. Of that export only the record
 * is left: retention has cleared or removed the row.
 */
export async function readOvertakenContacts(
  database: Kysely<Tables>,
  service: string,
  runId: string,
): Promise<ContactState[]> {
  const overtaken = sql`
    with newer_runs as materialized (
      select newer.run_id
      from runs self
      join runs newer on newer.source = self.source
        and ${sql.raw(exportOrder('newer'))} > ${sql.raw(exportOrder('self'))}
        and ${sql.raw(isExport('newer'))}
      where self.run_id = ${runId}
    )
    select distinct m.source, m.contact_id
    from contact_matches m
    join contacts c on c.source = m.source and c.contact_id = m.contact_id and c.match_id = m.match_id
    join contact_records k on k.source = m.source and k.contact_id = m.contact_id
    where m.run_id = ${runId} and k.run_id in (select run_id from newer_runs)`;
  return readMatchedContacts(database, service, overtaken, true);
}

interface RowOfContact extends ContactKey {
  readonly runId: string;
}

/** Leaves out rows whose contact a newer export has: they say nothing about the contact. */
async function withoutStale<Row extends RowOfContact>(
  database: Kysely<Tables>,
  contacts: readonly Row[],
): Promise<Row[]> {
  if (contacts.length === 0) return [];
  const contactIds = contacts.map(({ contactId }) => contactId);
  const { rows } = await sql<{ place: string }>`
    with newer_runs as materialized (
      select runs.run_id, newer.run_id as newer_id
      from runs
      join runs newer on newer.source = runs.source
        and ${sql.raw(exportOrder('newer'))} > ${sql.raw(exportOrder('runs'))}
        and ${sql.raw(isExport('newer'))}
      where runs.run_id = any(${[...new Set(contacts.map(({ runId }) => runId))]}::text[])
    ), found as materialized (
      select n.run_id, n.contact_id
      from run_rows n
      where n.contact_id = any(${contactIds}::text[]) and n.run_id in (select newer_id from newer_runs)
      union all
      -- Retention has removed the row.
      select k.run_id, k.contact_id
      from contact_records k
      where k.source = any(${[...new Set(contacts.map(({ source }) => source))]}::text[])
        and k.contact_id = any(${contactIds}::text[])
        and k.run_id in (select newer_id from newer_runs)
    )
    select distinct f.place
    from unnest(${contacts.map(({ runId }) => runId)}::text[], ${contactIds}::text[])
      with ordinality as f (run_id, contact_id, place)
    join newer_runs on newer_runs.run_id = f.run_id
    join found on found.run_id = newer_runs.newer_id and found.contact_id = f.contact_id
  `.execute(database);
  const stale = new Set(rows.map(({ place }) => Number(place) - 1));
  return contacts.filter((_, index) => !stale.has(index));
}
