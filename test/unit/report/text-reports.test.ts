import { describe, expect, it } from 'vitest';
import { renderReport } from '../../../src/report/render.ts';
import { reportWith } from '../../helpers/report.ts';

const { run } = reportWith();

describe('the report as JSON', () => {
  it('is the report itself, with credits as exact decimals', () => {
    const report = reportWith();
    expect(JSON.parse(renderReport(report, 'json'))).toEqual(report);
  });
});

describe('the report for a terminal', () => {
  const text = renderReport(reportWith(), 'terminal');

  it('says what needs a person, and the command for it', () => {
    expect(text).toContain('The cost of 1 call is not known.\n    next: enrich attempts list');
  });

  it('groups long figures, keeps decimals exact and rounds prices', () => {
    expect(text).toContain('1,840.5');
    expect(text).toMatch(/contact\s+1,000\s+1,840\.5\s+1\.84/);
  });

  it('shows no price where there is none of a field', () => {
    expect(text).toMatch(/verified email\s+0\s+1,040\.5\s+–/);
  });

  it('lets no file name steer the terminal', () => {
    const hostile = renderReport(reportWith({ run: { ...run, file: 'a\u001B[2J\u0007\n.csv' } }), 'terminal');
    expect(hostile).toContain('a\uFFFD[2J\uFFFD\uFFFD.csv');
    // oxlint-disable-next-line eslint/no-control-regex -- control characters are what is looked for
    expect(hostile).not.toMatch(/[\u0000-\u0009\u000B-\u001F]/);
  });
});

describe('the report as Markdown', () => {
  it('keeps every table row in as many cells as its head', () => {
    const file = 'a|b.csv';
    const rows = renderReport(reportWith({ run: { ...run, file } }), 'markdown')
      .split('\n')
      .filter((line) => line.startsWith('|') && line.includes('csv'));
    expect(rows).toEqual(['| file | a\\|b.csv |']);
  });

  it('shows markup in a file name as text', () => {
    const file = '<b>*x*</b>_y_[z](//evil.example)`w` www.evil.example.csv';
    const text = renderReport(reportWith({ run: { ...run, file } }), 'markdown');
    expect(text.split('\n')[0]).toBe(
      '# Enrichment report: \\<b\\>\\*x\\*\\</b\\>\\_y\\_\\[z\\](//evil.example)\\`w\\` www&#46;evil.example.csv',
    );
  });

  it('puts a next step that holds backticks into a longer fence', () => {
    const text = renderReport(reportWith({ needs_person: [{ what: 'Look.', next: 'a `b` c' }] }), 'markdown');
    expect(text).toContain('- Look. Next: `` a `b` c ``');
  });
});
