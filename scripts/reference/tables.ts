import { sql, type Kysely } from 'kysely';
import { isReadable } from '../../src/db/analyst-role.ts';
import { schemaName } from '../../src/db/session-settings.ts';
import { code, prose, table, wrapped } from './page.ts';

interface Column {
  readonly name: string;
  readonly type: string;
  readonly about: string | null;
}

interface Table {
  readonly schema: string;
  readonly name: string;
  readonly about: string | null;
  readonly key: readonly string[] | null;
  readonly columns: readonly Column[];
}

/** Reads all tables and views of the migrated database, with their SQL comments. */
export async function readTables(database: Kysely<never>): Promise<readonly Table[]> {
  const { rows } = await sql<Table>`
    select n.nspname as schema, c.relname as name, obj_description(c.oid, 'pg_class') as about,
      (select json_agg(k.attname order by array_position(i.indkey::int2[], k.attnum))
       from pg_index i
       join pg_attribute k on k.attrelid = c.oid and k.attnum = any (i.indkey)
       where i.indrelid = c.oid and i.indisprimary) as key,
      json_agg(json_build_object(
        'name', a.attname,
        'type', case format_type(a.atttypid, a.atttypmod)
          when 'timestamp with time zone' then 'timestamptz'
          when 'numeric(20,6)' then 'numeric'
          else format_type(a.atttypid, a.atttypmod) end,
        'about', col_description(c.oid, a.attnum)) order by a.attnum) as columns
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where n.nspname in ('enrichment', 'enrichment_internal') and c.relkind in ('r', 'v')
      and c.relname not like 'kysely%'
    group by c.oid, n.nspname
    order by c.relname
  `.execute(database);
  return rows;
}

/** Names of tables on each page. Other tables are on the last page. */
const pages = {
  'tables-contacts': [
    'enriched_contacts',
    'contacts',
    'contact_matches',
    'contact_decisions',
    'contact_history',
    'contact_phones',
    'field_provenance',
  ],
  'tables-changes': ['changes', 'contact_changes', 'changes_pruned'],
  'tables-people': [
    'people',
    'person_emails',
    'person_phones',
    'employment_history',
    'job_changes',
    'organizations',
    'people_to_inform',
  ],
  'tables-runs': [
    'runs',
    'run_rows',
    'row_results',
    'run_outcomes',
    'run_calls',
    'run_credits',
    'run_costs',
    'run_waste',
    'run_late_results',
  ],
  'tables-calls': [
    'attempts',
    'attempt_people',
    'quarantined_people',
    'observations',
    'expected_results',
    'webhook_deliveries',
    'rate_scopes',
    'rate_calls',
    'rate_reports',
  ],
  'tables-budgets': [],
} as const satisfies Readonly<Record<string, readonly string[]>>;

type TablesPage = keyof typeof pages;
export const tablesPages = Object.keys(pages) as TablesPage[];

function tablesOf(tables: readonly Table[], page: TablesPage): readonly Table[] {
  const visible = tables.filter(({ schema }) => schema === schemaName);
  const named: readonly string[] = Object.values(pages).flat();
  if (page === 'tables-budgets') return visible.filter(({ name }) => !named.includes(name));
  return pages[page].flatMap((name) => visible.filter((each) => each.name === name));
}

/** Writes a table of all tables: what a row is, with a link to the columns. */
export function tablesIndex(tables: readonly Table[]): string {
  const internal = tables.filter(({ schema }) => schema !== schemaName).map(({ name }) => code(name));
  const rows = tablesPages.flatMap((page) =>
    tablesOf(tables, page).map(({ name, about }) => [`[${name}](${page}.md#${name})`, prose(about ?? '')]),
  );
  return [
    '## Tables and views',
    table(['Name', 'What a row is'], rows),
    wrapped(`The schema \`enrichment_internal\` has ${internal.join(', ')}.`),
  ].join('\n\n');
}

/** Describes the tables of a page with their columns. */
export function tablesPage(tables: readonly Table[], page: TablesPage): string {
  return tablesOf(tables, page)
    .map(({ name, about, key, columns }) => {
      const shown = columns.filter((column) => isReadable(name, column.name));
      const hidden = columns.filter((column) => !shown.includes(column)).map((each) => code(each.name));
      return [
        `## ${name}`,
        wrapped(prose(`${about}.${key ? ` Key: ${key.map(code).join(', ')}.` : ''}`)),
        table(
          ['Column', 'Type', 'Meaning'],
          shown.map((column) => [code(column.name), column.type, prose(column.about ?? '')]),
        ),
        ...(hidden.length === 0 ? [] : [wrapped(`Analysts do not read ${hidden.join(', ')}.`)]),
      ].join('\n\n');
    })
    .join('\n\n');
}
