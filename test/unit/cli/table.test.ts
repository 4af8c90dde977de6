import { describe, expect, it } from 'vitest';
import { table } from '../../../src/cli/terminal/table.ts';

describe('a table on a terminal', () => {
  it('table() formats as many rows as the warehouse has', () => {
    const rows = Array.from({ length: 150_000 }, () => ['']);
    expect(table(rows, 80).split('\n')).toHaveLength(150_000);
  });
});
