import { expect, it } from 'vitest';
import type { RunOptions } from '../../../src/domain/runs/run-options.ts';
import { describeMapping } from '../../../src/cli/run/describe-plan.ts';

const recognised = { source: null, mapping: null } as RunOptions;

const described = (
  header: readonly string[],
  mapping: Readonly<Record<string, string>>,
  options = recognised,
): string => describeMapping({ header: [...header], mapping, source: 'crm', warnings: [], options });

it('describeMapping() lists the columns with a field in the order of the file, then the other columns', () => {
  expect(described(['Note', 'Mail', 'Name'], { Name: 'name', Mail: 'email' })).toBe(
    ['read as crm:', '  Mail  →  email', '  Name  →  name', '  not used to find people: Note'].join('\n'),
  );
});

it('describeMapping() says which answer of an opt-out column excludes a contact', () => {
  const header = ['Email Opt In', 'Email Opt Out', 'Consent date', 'State'];
  const mapping = Object.fromEntries(header.map((name) => [name, 'opted_out']));
  expect(described(header, mapping).split('\n').slice(1)).toEqual([
    '  Email Opt In   →  opted_out, unless the cell says yes',
    '  Email Opt Out  →  opted_out, unless the cell says no',
    '  Consent date   →  opted_out, if the cell says no',
    '  State          →  opted_out, with any value',
  ]);
});
