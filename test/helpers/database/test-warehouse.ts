import type { QueryResult, QueryResultRow } from 'pg';
import type { Warehouse } from '../../../src/db/database.ts';

/** The warehouse of a test, with SQL for what the test prepares and compares. */
export interface TestWarehouse extends Warehouse {
  /** Runs a statement. Values in the template become its parameters. @returns its rows */
  query<Row extends QueryResultRow = QueryResult['rows'][number]>(
    text: TemplateStringsArray,
    ...values: readonly unknown[]
  ): Promise<Row[]>;
}

export function testWarehouse(warehouse: Warehouse): TestWarehouse {
  return {
    ...warehouse,
    query: async <Row extends QueryResultRow>(
      text: TemplateStringsArray,
      ...values: readonly unknown[]
    ): Promise<Row[]> => {
      const numbered = text.reduce((before, part, number) => `${before}$${number}${part}`);
      return (await warehouse.pool.query<Row>(numbered, [...values])).rows;
    },
  };
}
