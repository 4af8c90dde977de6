import { PassThrough } from 'node:stream';
import type { WriteStream } from 'node:tty';
import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { Progress, type ProgressFigures } from '../../../src/cli/run/progress.ts';

const figures: ProgressFigures = {
  phase: 'enriching',
  done: 120,
  total: 5_000,
  asked: 120,
  calls: 12,
  credits: '104',
  reserved: '0',
  waiting: 'waiting 9s: the window 20/10s is full',
};

function shown(columns: number, more: Partial<ProgressFigures> = {}): string {
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns }) as unknown as WriteStream;
  new Progress(stream).show({ ...figures, ...more });
  return stripVTControlCharacters(String(stream.read()));
}

it('the progress line shows all figures on a wide terminal', () => {
  expect(shown(120)).toBe(
    'enriching  [#-----------------------]  120/5000  12 calls  104 credits  waiting 9s: the window 20/10s is full',
  );
});

it('the progress line shows no ETA for a run that makes no progress', async () => {
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 120 }) as unknown as WriteStream;
  const progress = new Progress(stream);
  progress.show({ ...figures, done: 0, asked: 0 });
  progress.show({ ...figures, phase: 'paused', hasEnded: true, waiting: undefined });
  expect(stripVTControlCharacters(String(stream.read()))).toMatch(
    /paused .* 120\/5000 {2}12 calls {2}104 credits {2}[\d.]+\/s$/,
  );
});

it('the progress line shows the ETA of the rate windows while a call waits for them', async () => {
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 150 }) as unknown as WriteStream;
  const progress = new Progress(stream);
  progress.show({ ...figures, done: 0, asked: 0 });
  stream.read();
  progress.show({
    ...figures,
    done: 4_990,
    asked: 4_990,
    waiting: 'waiting 9s: the window 20/10s is full',
    etaSeconds: 10,
  });
  expect(stripVTControlCharacters(String(stream.read()))).toMatch(/ETA 10s {2}waiting 9s: the window/);
});

it('the progress line shows no ETA while the end of the rate windows is not known', () => {
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 150 }) as unknown as WriteStream;
  const progress = new Progress(stream);
  progress.show({ ...figures, done: 0, asked: 0 });
  stream.read();
  progress.show({ ...figures, etaSeconds: null });
  expect(stripVTControlCharacters(String(stream.read()))).not.toContain('ETA');
});

it('the progress line leaves out figures before the pause reason on a narrow terminal', () => {
  expect(shown(80)).toBe('enriching  120/5000  104 credits  waiting 9s: the window 20/10s is full');
});

it('the progress line is never longer than the terminal', () => {
  expect(shown(40)).toBe('enriching  120/5000  waiting 9s: the w…');
  expect(shown(40)).toHaveLength(39);
});

it('the progress line shows why a run waits before it has a plan', () => {
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 120 }) as unknown as WriteStream;
  const waiting = 'no worker has polled for 2m 5s: start one with: enrich worker';
  new Progress(stream).show({ ...figures, phase: 'reading the file', total: 0, waiting });
  expect(stripVTControlCharacters(String(stream.read()))).toBe(`reading the file …  ${waiting}`);
});

it('the pace of the progress line leaves out people who were in no call', () => {
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 120 }) as unknown as WriteStream;
  const progress = new Progress(stream);
  progress.show(figures);
  stream.read();
  progress.show({ ...figures, phase: 'finished', hasEnded: true, done: 5_000, waiting: undefined });
  expect(stripVTControlCharacters(String(stream.read()))).toMatch(/5000\/5000 {2}12 calls {2}104 credits$/);
});

it('the progress line of a run that awaits late results shows the reserved credits and the deadline', () => {
  const late = { phase: 'late results', done: 5_000, calls: 500, credits: '0', reserved: '4000' };
  const waiting = '500 calls awaited until 2026-11-27 17:41 UTC';
  expect(shown(140, { ...late, waiting })).toBe(
    `late results  [########################]  5000/5000  500 calls  0 credits, 4,000 reserved  ${waiting}`,
  );
});
