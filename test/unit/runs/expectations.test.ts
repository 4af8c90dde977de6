import { expect, it } from 'vitest';
import {
  parseExpectations,
  unmetExpectations,
  usualExpectationsOfMixedFiles,
  type ProfiledExport,
} from '../../../src/domain/runs/expectations.ts';

function read(rows: number, email: number, changes: Partial<ProfiledExport> = {}): ProfiledExport {
  return {
    runId: 'run-1',
    profile: { rows, malformed: 0, filled: { email } },
    mapping: { Email: 'email', 'Record ID': 'contact_id' },
    ...changes,
  };
}

function unmet(rules: string, present: ProfiledExport, earlier: readonly ProfiledExport[]): string[] {
  return unmetExpectations(parseExpectations(rules), present, earlier, (name) => `"${name}"`);
}

const nights = [read(1_000, 900), read(1_200, 1_100), read(1_100, 990)];

it.each([
  ['rows=50%..200%', { rows: { least: 0.5, most: 2 }, coverage: null }],
  ['rows=80%', { rows: { least: 0.8, most: null } }],
  ['usual,rows=any, malformed=2.5%', { rows: null, malformed: 0.025, coverage: 0.7, sameMapping: true }],
  ['none', { rows: null, notEmpty: false }],
  ['mapping=same,empty=no', { sameMapping: true, notEmpty: true, fewestRows: 0 }],
])('expectations on an export are read from %s', (rules, expected) => {
  expect(parseExpectations(rules)).toMatchObject(expected);
});

it.each(['rows', 'rows=half', 'rows=50%..', 'mapping=any,usual', 'size=3', '', 'malformed=5'])(
  'expectations on an export refuse %j and list the possible rules',
  (rules) => {
    expect(() => parseExpectations(rules)).toThrow(/is not an expectation/);
  },
);

it('expectations on an export compare rows and coverage with the median of earlier runs', () => {
  expect(unmet('usual', read(200, 100), nights)).toEqual([
    '200 rows: expected at least 550, because the median of 3 earlier runs is 1,100',
    'email is filled in 50.0 % of the rows: expected at least 63.0 %, because the median of 3 earlier runs is 90.0 %',
  ]);
  expect(unmet('rows=50%..150%', read(1_700, 1_600), nights.slice(0, 1))).toEqual([
    '1,700 rows: expected at most 1,500, because the figure of the previous run is 1,000',
  ]);
});

it('expectations on an export report a file without rows in one sentence', () => {
  const empty = read(0, 0);
  expect(unmet('usual', empty, nights)).toEqual([
    '0 rows: expected at least 550, because the median of 3 earlier runs is 1,100',
  ]);
  expect(unmet('usual,rows=any', empty, nights)).toEqual(['the file has no rows']);
  expect(unmet('empty=no', empty, [])).toEqual(['the file has no rows']);
});

it('mapping=same reports a field that is read from another column than in the previous run', () => {
  const moved = read(1_000, 900, { mapping: { 'Work mail': 'email', 'Record ID': 'contact_id' } });
  expect(unmet('mapping=same', moved, nights)).toEqual([
    'the mapping of the columns changed since run run-1: email from "Email" to "Work mail"',
  ]);
});

it('expectations on an export limit the share of malformed rows, also without earlier runs', () => {
  const damaged = read(400, 300, { profile: { rows: 400, malformed: 50, filled: {} } });
  const line = ['50 of 400 rows are malformed (12.5 %): expected at most 10.0 %'];
  expect(unmet('usual', damaged, [])).toEqual(line);
  expect(unmet(usualExpectationsOfMixedFiles, damaged, nights)).toEqual(line);
});

it('default expectations ignore first runs, small files and mostly empty columns', () => {
  const other = read(10, 0, { mapping: {}, profile: { rows: 10, malformed: 9, filled: {} } });
  expect(unmet('usual', other, [])).toEqual([]);
  expect(unmet('usual', other, nights.slice(0, 2))).toEqual([]);
  const small = [read(20, 20), read(30, 30), read(40, 40)];
  expect(unmet('usual', read(0, 0), small)).toEqual([]);
  expect(unmet('usual', read(5, 1), small)).toEqual([]);
  const sparse = [read(1_000, 50), read(1_000, 60), read(1_000, 70)];
  expect(unmet('usual', read(1_000, 0), sparse)).toEqual([]);
});
