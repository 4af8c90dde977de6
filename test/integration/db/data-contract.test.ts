import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { attemptStatuses } from '../../../src/domain/money/attempt-status.ts';
import { outcomes } from '../../../src/domain/runs/outcome.ts';
import { personColumns } from '../../../src/domain/warehouse/person-columns.ts';
import { contractYaml, dbtSourcesYaml, readContract } from '../../helpers/database/data-contract.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { tableTypes } from '../../helpers/database/table-types.ts';

const dbt = new URL('../../../dbt/', import.meta.url);

const byCommand = 'npm run schemas writes the file';

const warehouse = await warehouseOfFile();
const tables = await readContract(warehouse);

it('schemas/tables.yaml describes the migrated database', async () => {
  await expect(contractYaml(tables)).toMatchFileSnapshot('../../../schemas/tables.yaml', byCommand);
});

it('src/db/schema.ts has the types of the tables of the migrated database', async () => {
  await expect(await tableTypes(warehouse)).toMatchFileSnapshot('../../../src/db/schema.ts', byCommand);
});

it('the sources of dbt have the columns and accepted values of the migrated database', async () => {
  await expect(dbtSourcesYaml(tables)).toMatchFileSnapshot('../../../dbt/models/sources.yml', byCommand);
  const valuesOf = (table: string, column: string): readonly string[] | undefined =>
    tables.find(({ name }) => name === table)!.columns.find(({ name }) => name === column)!.values;
  expect(valuesOf('run_rows', 'outcome')).toEqual(outcomes);
  expect(valuesOf('attempts', 'status')).toEqual(attemptStatuses);
});

it('no column of a public key can be null', () => {
  const nullable = tables.flatMap(({ name, key, columns }) =>
    columns
      .filter((column) => key.includes(column.name) && column.nullable)
      .map((column) => [name, column.name]),
  );
  expect(nullable).toEqual([]);
});

/** As dbt compiles it for a first build, with sources and other models in place. */
function compiled(model: string): string {
  return readFileSync(new URL(`models/${model}.sql`, dbt), 'utf8')
    .replaceAll(/\{\{ config\([^]*?\) \}\}/g, '')
    .replaceAll(/\{\{ source\('enrichment', '(\w+)'\) \}\}/g, 'enrichment.$1')
    .replaceAll(/\{\{ ref\('(\w+)'\) \}\}/g, (_, other: string) => `(${compiled(other)})`)
    .replaceAll(/\{% if is_incremental\(\) %\}[^]*?(?:\{% else %\}([^]*?))?\{% endif %\}/g, '$1');
}

const models = readdirSync(new URL('models/', dbt)).filter((file) => file.endsWith('.sql'));

it.each(models)('the dbt model %s is SQL that the schema understands', async (file) => {
  await expect(warehouse.pool.query(compiled(file.replace('.sql', '')))).resolves.toMatchObject({ rows: [] });
});

it('the dbt model contacts.sql has every column of a person that enriched_contacts has', async () => {
  const { fields } = await warehouse.pool.query(compiled('contacts'));
  const selected = new Set(fields.map(({ name }) => name));
  const columns = personColumns.filter(({ inContacts }) => inContacts).map(({ name }) => name);
  expect(columns.filter((name) => !selected.has(name))).toEqual([]);
});
