import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from 'vitest';
import { openWarehouse } from '../../../src/db/database.ts';
import { checkStatements, mistakeIn, type DescribedColumn } from '../../helpers/database/check-statements.ts';
import { createTestDatabase } from '../../helpers/database/database.ts';

let databaseUrl: string;
let client: pg.Client;

beforeAll(async () => {
  databaseUrl = await createTestDatabase();
  client = new pg.Client({
    connectionString: databaseUrl,
    options: '-c search_path=enrichment,enrichment_internal,pg_catalog',
  });
  await client.connect();
});

afterAll(async () => {
  await client.end();
});

/** Has PostgreSQL parse a statement and describe its result, without executing it. */
function describeResult(text: string): Promise<readonly DescribedColumn[]> {
  return new Promise((resolve, reject) => {
    let columns: readonly DescribedColumn[] = [];
    const query = {
      submit: (connection: pg.Connection) => {
        connection.parse({ name: '', text, types: [] }, true);
        connection.describe({ type: 'S', name: '' }, true);
        connection.sync();
      },
      handleRowDescription: (message: { fields: readonly DescribedColumn[] }) => {
        columns = message.fields;
      },
      handleError: reject,
      handleReadyForQuery: () => resolve(columns),
    };
    client.query(query as unknown as pg.Submittable);
  });
}

/** Only the transaction that creates a temporary table can prepare its statements. */
function usesTemporaryTable({ code, message }: pg.DatabaseError): boolean {
  return code === '42P01' && /relation "(?:plan|page|recorded)_/.test(message);
}

/** A fragment of SQL, for which a parameter stands here, is no value: such statements only run in other tests. */
function hasFragments(where: string, { code }: pg.DatabaseError): boolean {
  const comparesFragment =
    code === '42883' && filesWithComparedFragments.some((file) => where.startsWith(file));
  return code === '42601' || code === '42P18' || comparesFragment;
}

const filesWithComparedFragments = ['src/ledger/credit-ledger.ts', 'src/people/project.ts'];

it('every raw statement without fragments prepares, and its result has the columns of its row type', async () => {
  const statements = inject('sourceStatements');
  const mistakes: string[] = [];
  let checked = 0;
  let temporary = 0;
  for (const statement of statements) {
    const text = statement.texts.reduce((sum, part, index) => `${sum}$${index}${part}`);
    try {
      const mistake = mistakeIn(statement, await describeResult(text));
      if (mistake !== undefined) mistakes.push(mistake);
      checked += 1;
    } catch (error) {
      if (usesTemporaryTable(error as pg.DatabaseError)) temporary += 1;
      else if (!hasFragments(statement.where, error as pg.DatabaseError))
        mistakes.push(`${statement.where}: ${(error as Error).message}`);
    }
  }
  expect(mistakes).toEqual([]);
  expect(checked).toBeGreaterThan((statements.length - temporary) * 0.65);
});

it.each([false, true])(
  'a statement of a test fails if its result has other columns than its row type (plans are kept: %s)',
  async (keepsPlans) => {
    const warehouse = openWarehouse(databaseUrl, { connections: 1, keepsPlans });
    onTestFinished(() => warehouse.close());
    const end = `::text as column_of_warehouse_that_keeps_plans_${keepsPlans}`;
    checkStatements(warehouse.pool, [
      { where: 'here', texts: ['select ', end], columns: { other: { type: 'string', isOptional: false } } },
    ]);
    const select = sql`select ${'any'}${sql.raw(end)}`.execute(warehouse.database);
    await expect(select).rejects.toThrow('here: the result has no column other');
  },
);
