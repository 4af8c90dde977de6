import { describe, expect, it } from 'vitest';
import { paint, widthOf } from '../../../src/cli/terminal/style.ts';
import { wrapLines } from '../../../src/cli/terminal/wrap.ts';

describe('a text on a terminal', () => {
  it('breaks between words, with what continues a line indented by two columns more', () => {
    expect(wrapLines('  not used: title, tags, sales, phone', 20)).toBe(
      ['  not used: title,', '    tags, sales,', '    phone'].join('\n'),
    );
  });

  it('keeps lines that fit as they are, spaces included', () => {
    expect(wrapLines('a   b\n  c', 6)).toBe('a   b\n  c');
  });

  it('keeps an address whole that is longer than a line', () => {
    expect(wrapLines('at http://warehouse.example:5432/enrich now', 12)).toContain(
      'http://warehouse.example:5432/enrich',
    );
  });

  it('counts no column for a style', () => {
    const text = `${paint('yellow', 'warning:')} ten`;
    expect(wrapLines(text, widthOf(text))).toBe(text);
  });

  it('is not broken in a file or a pipe', () => {
    const text = 'word '.repeat(100);
    expect(wrapLines(text, Number.POSITIVE_INFINITY)).toBe(text);
  });
});
