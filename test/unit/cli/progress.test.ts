import { PassThrough } from 'node:stream';
import type { WriteStream } from 'node:tty';
import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { Progress, type ProgressFigures } from '../../../src/cli/run/progress.ts';

const figures: ProgressFigures = {
  phase: 'enriching',
  done: 120,
  total: 500,
  calls: 12,
  credits: '104',
  reserved: '0',
  waiting: undefined,
};
const full = 'waiting 9s: the window 20/10s is full';
const late = '50 calls awaited until 2026-11-27 17:41 UTC';

it.each<[string, number, Partial<ProgressFigures>, string]>([
  ['all figures', 120, {}, 'enriching  [##--------]  120/500  12 calls  104 credits'],
  [
    'when its last call is due, and why it waits',
    120,
    { waiting: full, etaSeconds: 70 },
    `enriching  [##--------]  120/500  ETA 1m 10s  ${full}  12 calls  104 credits`,
  ],
  ['why it waits on a narrow terminal', 73, { waiting: full }, `enriching  [##--------]  120/500  ${full}…`],
  [
    'why it waits before it has a plan',
    120,
    { phase: 'reading the file', total: 0, waiting: 'no worker' },
    'reading the file …  no worker',
  ],
  [
    'reserved credits, and no ETA once everybody is asked for',
    140,
    { phase: 'finishing', done: 500, reserved: '4000', waiting: late, etaSeconds: 3 },
    `finishing  [##########]  500/500  ${late}  12 calls  104 credits, 4,000 reserved`,
  ],
])('the progress line of a run shows %s', (_, columns, changes, line) => {
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns }) as unknown as WriteStream;
  new Progress(stream).show({ ...figures, ...changes });
  expect(stripVTControlCharacters(String(stream.read()))).toBe(line);
});
