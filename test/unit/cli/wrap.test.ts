import { describe, expect, it } from 'vitest';
import { paint, widthOf } from '../../../src/cli/terminal/style.ts';
import { wrapHelp, wrapLines } from '../../../src/cli/terminal/wrap.ts';

it('wrapHelp() breaks paragraphs that do not fit the terminal, and keeps headings, options and examples whole', () => {
  const help = [
    'Usage: enrich run FILE',
    '',
    'The same command after a kill continues',
    'the run.',
    '',
    'Examples:',
    '  enrich run contacts.csv --yes --max-credits 500',
    '',
    'Short.',
    'Lines.',
    '',
  ].join('\n');
  expect(wrapHelp(help, 24)).toBe(
    help.replace(
      'The same command after a kill continues\nthe run.',
      'The same command after a\nkill continues the run.',
    ),
  );
  expect(wrapHelp(help, Number.POSITIVE_INFINITY)).toBe(help);
});

describe('a text on a terminal', () => {
  it('wrapLines() breaks a text between words and indents continuation lines by two more columns', () => {
    expect(wrapLines('  not used: title, tags, sales, phone', 20)).toBe(
      ['  not used: title,', '    tags, sales,', '    phone'].join('\n'),
    );
  });

  it('wrapLines() keeps fitting lines unchanged, spaces included', () => {
    expect(wrapLines('a   b\n  c', 6)).toBe('a   b\n  c');
  });

  it('wrapLines() keeps an address whole that is longer than a line', () => {
    expect(wrapLines('at http://warehouse.example:5432/enrich now', 12)).toContain(
      'http://warehouse.example:5432/enrich',
    );
  });

  it('wrapLines() counts no columns for a style', () => {
    const text = `${paint('yellow', 'warning:')} ten`;
    expect(wrapLines(text, widthOf(text))).toBe(text);
  });

  it('wrapLines() does not break a text in a file or a pipe', () => {
    const text = 'word '.repeat(100);
    expect(wrapLines(text, Number.POSITIVE_INFINITY)).toBe(text);
  });
});
