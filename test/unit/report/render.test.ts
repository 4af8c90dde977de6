import { describe, expect, it } from 'vitest';
import { renderReport } from '../../../src/report/render.ts';
import { reportWith } from '../../helpers/outputs/report.ts';

const { run } = reportWith();

it('the JSON report is the report object, with credits as exact decimals', () => {
  const report = reportWith();
  expect(JSON.parse(renderReport(report, 'json'))).toEqual(report);
});

describe('the report for a terminal', () => {
  const text = renderReport(reportWith(), 'terminal');

  it('the terminal report names what needs a person, with the next command', () => {
    expect(text).toContain('The cost of 1 call is not known.\n    next: enrich attempts list');
  });

  it('the terminal report groups figures, keeps decimals exact and rounds prices', () => {
    expect(text).toContain('1,840.5');
    expect(text).toMatch(/contact\s+1,000\s+1,840\.5\s+1\.84/);
  });

  it('the terminal report shows a dash as the price of a field that no row has', () => {
    expect(text).toMatch(/verified email\s+0\s+1,040\.5\s+–/);
  });

  it('the terminal report writes the expected credits as the plan does', () => {
    const { credits } = reportWith();
    const planned = { ...credits.planned!, low: '28.5', expected: '39.9', high: '51.3' };
    const tenths = renderReport(reportWith({ credits: { ...credits, planned } }), 'terminal');
    expect(tenths).toContain('expected 39.9 (28.5 to 51.3)');
  });

  it('the terminal report shows no price of an email while credits are held and none is settled', () => {
    const costs = [{ field: 'verified_email' as const, count: 46, credits: '0', each: null }];
    const unsettled = renderReport(reportWith({ costs }), 'terminal');
    expect(unsettled).toMatch(/Per verified email +– +nothing settled yet, for 46 emails\n/);
  });

  it('the terminal report says how many contacts have lost their person, and why', () => {
    expect(text).toMatch(/another contact could be this person as well\s+3\n/);
  });

  it('the terminal report says below the late results that held credits wait for results past their deadline', () => {
    const { calls, late_results: late } = reportWith();
    const overdue = reportWith({
      calls: { ...calls, by_status: { awaiting: 6 } },
      late_results: { ...late, expired: 6 },
    });
    const section = renderReport(overdue, 'terminal').replaceAll(/\s+/g, ' ').split('Late results ----')[1];
    expect(section).toContain('6 calls got no late results before the deadline.');
    expect(section).toContain('their credits stay held');
  });

  it('the terminal report shows equal shares for outcomes with equal numbers of rows', () => {
    const outcomes = { enriched: 5, identity_mismatch: 5, not_found: 50 };
    const shares = renderReport(reportWith({ outcomes }), 'terminal').matchAll(/ 5 +(\d+\.\d %)/g);
    expect([...shares].map(([, share]) => share)).toEqual(['8.3 %', '8.3 %']);
  });

  it('the terminal report shows control characters of a file name as text', () => {
    const hostile = renderReport(reportWith({ run: { ...run, file: 'a\u001B[2J\u0007\n.csv' } }), 'terminal');
    expect(hostile).toContain('a\\u001b[2J\\u0007\\n.csv');
    // oxlint-disable-next-line eslint/no-control-regex -- tests for control characters
    expect(hostile).not.toMatch(/[\u0000-\u0009\u000B-\u001F]/);
  });
});

describe('the report as Markdown', () => {
  it('the Markdown report escapes a | in a cell', () => {
    const file = 'a|b.csv';
    const rows = renderReport(reportWith({ run: { ...run, file } }), 'markdown')
      .split('\n')
      .filter((line) => line.startsWith('|') && line.includes('csv'));
    expect(rows).toEqual(['| file | a\\|b.csv |']);
  });

  it('the Markdown report escapes markup in a file name', () => {
    const file = '<b>*x*</b>_y_[z](//evil.example)`w` www.evil.example.csv';
    const text = renderReport(reportWith({ run: { ...run, file } }), 'markdown');
    expect(text.split('\n')[0]).toBe(
      '# Enrichment report: \\<b\\>\\*x\\*\\</b\\>\\_y\\_\\[z\\](//evil.example)\\`w\\` www&#46;evil.example.csv',
    );
  });

  it('the Markdown report puts a next step with backticks into a longer fence', () => {
    const text = renderReport(reportWith({ needs_person: [{ what: 'Look.', next: 'a `b` c' }] }), 'markdown');
    expect(text).toContain('- Look. Next: `` a `b` c ``');
  });
});
