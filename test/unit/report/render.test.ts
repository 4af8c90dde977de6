import { expect, it } from 'vitest';
import { renderReport } from '../../../src/report/render.ts';
import { reportWith } from '../../helpers/outputs/report.ts';

const { run } = reportWith();

it('the JSON report is the report object, with credits as exact decimals', () => {
  const report = reportWith();
  expect(JSON.parse(renderReport(report, 'json'))).toEqual(report);
});

const text = renderReport(reportWith(), 'markdown');

it('the Markdown report lists what the operator must do, with the next command', () => {
  expect(text).toContain('- The cost of 1 call is not known. Next: `enrich attempts list');
});

it('the Markdown report writes 1,840.5 credits exactly and rounds the price per contact to 1.84', () => {
  expect(text).toContain('1,840.5');
  expect(text).toMatch(/contact +\| +1,000 \| +1,840\.5 \| +1\.84/);
});

it('the Markdown report makes control characters of a file name visible', () => {
  const hostile = renderReport(reportWith({ run: { ...run, file: 'a\u001B[2J\u0007\n.csv' } }), 'markdown');
  expect(hostile).toContain('a\\\\u001b\\[2J\\\\u0007\\\\n.csv');
  // oxlint-disable-next-line eslint/no-control-regex -- tests for control characters
  expect(hostile).not.toMatch(/[\u0000-\u0009\u000B-\u001F]/);
});

it('the Markdown report escapes markup in a file name', () => {
  const file = '<b>*x*</b>_y_[z](//evil.example)`w` www.evil.example.csv';
  const escaped = renderReport(reportWith({ run: { ...run, file } }), 'markdown');
  expect(escaped.split('\n')[0]).toBe(
    '# Enrichment report: \\<b\\>\\*x\\*\\</b\\>\\_y\\_\\[z\\](//evil.example)\\`w\\` www&#46;evil.example.csv',
  );
});
