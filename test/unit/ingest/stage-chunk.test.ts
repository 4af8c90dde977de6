import { expect, it } from 'vitest';
import type { StagedRow } from '../../../src/ingest/columns/read-row.ts';
import { Chunk } from '../../../src/ingest/staging/stage-chunk.ts';

/** A row of which the export states almost nothing: its fields are nulls, which no text interrupts. */
function row(cell: string): StagedRow {
  return {
    rowNumber: 1,
    contactId: 'c',
    outcome: undefined,
    reason: undefined,
    identity: {},
    optedOut: false,
    optedOutOfCalls: false,
    keys: [],
    matchKeys: [],
    cells: [cell],
  };
}

/** The memory of a new chunk. */
const memory = 4.5 * 1024 * 1024;

it('a chunk keeps every byte of a row of nulls that ends behind its memory', () => {
  const [narrow, wide] = ['x'.repeat(400), 'x'.repeat(100_000)];
  for (let shift = 0; shift < 60; shift += 1) {
    const chunk = new Chunk('r', 1);
    const added: string[] = [];
    let used = 0;
    const add = (cell: string): void => {
      chunk.add(row(cell));
      added.push(`r\t1\tc${'\t\\N'.repeat(12)}\tf\tf\t{}\t{}\t["${cell}"]\n`);
      used += added.at(-1)!.length;
    };
    // A long cell near the end makes the chunk larger before it is full.
    while (used < memory - 10 * wide.length) add(wide);
    while (used < memory - 10 * narrow.length) add(narrow);
    add('y'.repeat(shift));
    while (used < memory + 500) add('');
    expect(chunk.copyOfRowsAfter(0).equals(Buffer.from(added.join('')))).toBe(true);
  }
});
