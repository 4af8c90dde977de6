import { importFields, type ImportField } from '../../domain/crm/crm.ts';
import { headerKey } from '../../domain/text/header-name.ts';
import { identityColumns, identityOfColumns, type IdentityColumns } from '../../domain/identity/identity.ts';
import { namesNewEmployer } from '../../domain/identity/names/organization-agreement.ts';
import {
  isValidNumberStatus,
  isDoNotCall,
  isInvalidNumberStatus,
  isMobileType,
} from '../../domain/identity/values/phone.ts';
import { personColumns, type ContactColumns } from '../../domain/warehouse/person-columns.ts';
import type { Warehouse } from '../../db/database.ts';
import { exportSortKey, isCrmExport } from '../../db/run-states.ts';
import { selectedContactCondition, type ContactChoice } from '../contact-choice.ts';

export type KnownValue = ReturnType<typeof knownPhone>;
export type ContactToImport = ReturnType<typeof contactOf>;

export interface CompanyKey {
  readonly service: string;
  readonly key: string;
}

interface PhoneColumns {
  readonly number: string;
  readonly type?: string | null;
  readonly status?: string | null;
  readonly dnc_status?: string | null;
  readonly asked_at: string;
}

interface ContactRow extends ContactColumns {
  readonly contact_id: string;
  readonly phones: readonly PhoneColumns[];
  /** When and in which run the values of the person were observed, by group of fields. */
  readonly said_by: Readonly<Record<string, { readonly asked_at: string; readonly run_id: string }>>;
  /** Header of the newest export with the contact. This and the next four fields are null without such an export. */
  readonly header: readonly string[] | null;
  /** Cells of each row as exported. Retention or a suppression empties the list of a row. */
  readonly raws: readonly (readonly string[])[] | null;
  readonly cells: readonly IdentityColumns[] | null;
  readonly opted_out: boolean | null;
  readonly opted_out_of_calls: boolean | null;
  readonly service: string;
  readonly organization_key: string | null;
  readonly moved: Record<`${'from' | 'to'}_${'organization' | 'domain' | 'title'}`, string | null> | null;
  readonly detected_at: Date | null;
}

const rowsPerFetch = 1_000;

/** Reads contacts by id, through a database cursor, so that memory stays bounded. */
export async function* readContactsToImport(
  { pool }: Warehouse,
  choice: ContactChoice & { readonly source: string },
): AsyncGenerator<ContactToImport> {
  const client = await pool.connect();
  const keyOf = remembered(headerKey);
  try {
    await client.query('begin read only');
    await client.query(`declare contacts no scroll cursor for ${statementOf(choice)}`);
    for (;;) {
      const { rows } = await client.query<ContactRow>(`fetch ${rowsPerFetch} from contacts`);
      for (const row of rows) yield contactOf(row, keyOf);
      if (rows.length < rowsPerFetch) break;
    }
  } finally {
    // The connection still has an open cursor, so it is closed.
    client.release(true);
  }
}

/** Returns the different headers of the source's exports, the newest first. */
export async function readExportHeaders({ pool }: Warehouse, source: string): Promise<string[][]> {
  const { rows } = await pool.query<{ header: string[] }>(
    `select header from runs where source = $1 and header is not null and ${isCrmExport('runs')}
     group by header order by max(as_of) desc, max(created_at) desc`,
    [source],
  );
  return rows.map(({ header }) => header);
}

/** Makes the query for the chosen contacts, what is known of them, and their rows in the newest export. */
function statementOf(choice: ContactChoice & { readonly source: string }): string {
  // `exported` has every row of a contact in the newest export, even rows without cells: older cells do not show the
  // CRM's record of today. LATERAL with `offset 0` looks up each contact in a fixed order, whatever ANALYZE has
  // measured.
  return `
    with selected as materialized (
      select c.* from enriched_contacts c where ${selectedContactCondition(choice)}
    )
    select c.*, p.organization_key, p.phones, said.said_by, e.header, e.raws, e.cells, e.opted_out,
      e.opted_out_of_calls, to_jsonb(m) as moved, m.detected_at
    from selected c
    cross join lateral (
      select organization_key, phones, said_by
      from people
      where service = c.service and person_key = c.person_key
      offset 0
    ) p
    cross join lateral (
      select coalesce(jsonb_object_agg(s.key, jsonb_build_object('asked_at', o.asked_at, 'run_id', o.run_id)), '{}')
        as said_by
      from jsonb_each_text(p.said_by) s
      cross join lateral (
        select asked_at, run_id from observation_log where observation_id = s.value::bigint offset 0
      ) o
    ) said
    left join lateral (
      select header, json_agg(raw::json order by row_number) as raws, json_agg(cells) as cells,
        bool_or(is_opted_out) as opted_out, bool_or(opted_out_of_calls) as opted_out_of_calls
      from (
        select r.row_number, r.raw, r.opted_out_of_calls, u.header,
          json_build_object(${identityColumns.map((column) => `'${column}', r.${column}`).join(', ')}) as cells,
          r.opted_out or (r.outcome = 'suppressed' and r.raw <> '[]') as is_opted_out,
          rank() over (order by ${exportSortKey('u')} desc) as age
        from (select * from run_rows where contact_id = c.contact_id offset 0) r
        cross join lateral (select * from runs where run_id = r.run_id offset 0) u
        where u.source = c.source and ${isCrmExport('u')}
      ) dated
      where age = 1
      group by header
    ) e on true
    left join lateral (
      select * from job_changes
      where service = c.service and person_key = c.person_key
      order by detected_at desc
      limit 1
    ) m on true
    order by c.contact_id collate "C"`;
}

/** Collects what decides about the fields of a contact: its cells in the export, and the known values. */
function contactOf(row: ContactRow, keyOf: (header: string) => string) {
  const { service, organization_key: key } = row;
  const company: CompanyKey | undefined = key === null ? undefined : { service, key };
  return {
    contactId: row.contact_id,
    /** Rows of the contact in the newest export: cells by `headerKey`. Empty if retention has removed the cells. */
    exported: rowsOf(row, keyOf),
    optedOut: row.opted_out ?? false,
    optedOutOfCalls: row.opted_out_of_calls ?? false,
    known: Object.fromEntries(importFields.map((field) => [field, knownValue(row, field)])) as Readonly<
      Record<ImportField, KnownValue>
    >,
    jobChange: jobChangeOf(row),
    company,
  };
}

/** Returns the contact's last change of employer. Undefined once an export of the CRM names the new employer. */
function jobChangeOf({ moved, detected_at: detectedAt, cells }: ContactRow) {
  if (moved === null || detectedAt === null) return undefined;
  const { from_organization: former, to_organization: present, to_title: title } = moved;
  const move = {
    from: { name: former, domain: moved.from_domain },
    to: { name: present, domain: moved.to_domain },
  };
  if (cells?.some((each) => namesNewEmployer(identityOfColumns(each), move))) return undefined;
  return { from: former ?? '', to: present ?? '', title: title ?? '', detectedAt };
}

/**
 * Returns the cells of each row by header key. Empty if one row has lost its cells, because a blank cell of another row
 * proves nothing. Of two columns with one key, the first value counts: the importer may fill either column.
 */
function rowsOf(
  { header, raws }: ContactRow,
  keyOf: (header: string) => string,
): readonly ReadonlyMap<string, string>[] {
  if (!header || !raws || raws.some((cells) => cells.length === 0)) return [];
  const keys = header.map(keyOf);
  return raws.map((cells) => {
    const found = new Map<string, string>();
    for (const [index, key] of keys.entries())
      if ((found.get(key) ?? '').trim() === '' && cells[index] !== undefined) found.set(key, cells[index]);
    return found;
  });
}

/** Caches the results of a function: headers repeat in each contact. */
function remembered(compute: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const result = known.get(text) ?? compute(text);
    known.set(text, result);
    return result;
  };
}

const groupOf = new Map(personColumns.map(({ name, group }) => [name, group]));

/** Returns the warehouse's value of a field, with its time and run. All three are null if there is none. */
function knownValue(row: ContactRow, field: ImportField): KnownValue {
  if (field === 'phone' || field === 'mobile_phone') return knownPhone(row, field === 'mobile_phone');
  const said = row.said_by[groupOf.get(field)!];
  return {
    value: row[field],
    observedAt: said ? new Date(said.asked_at) : null,
    runId: said?.run_id ?? null,
    isVerified: field === 'email' && row.email_status?.toLowerCase() === 'verified',
    isDoNotCall: false,
  };
}

/** Returns the first valid number of this kind. `phones` is sorted by rank. */
function knownPhone({ phones, said_by }: ContactRow, ofMobiles: boolean) {
  const phone = phones.find(
    ({ type, status }) => isMobileType(type) === ofMobiles && !isInvalidNumberStatus(status),
  );
  return {
    value: phone?.number ?? null,
    observedAt: phone ? new Date(phone.asked_at) : null,
    runId: phone ? (said_by['phone']?.run_id ?? null) : null,
    /** True if the e-mail is verified or the phone number is valid. */
    isVerified: isValidNumberStatus(phone?.status),
    isDoNotCall: isDoNotCall(phone?.dnc_status ?? 'none'),
  };
}
