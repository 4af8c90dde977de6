import { expect, it } from 'vitest';
import { renderReport } from '../../../src/report/render.ts';
import { reportWith } from '../../helpers/outputs/report.ts';

const voidElements = new Set(['meta', 'br']);

interface Tag {
  readonly name: string;
  readonly attributes: string;
}

/** The tags of a page in their order. Fails if a tag is not closed in order. */
function tagsOf(page: string): Tag[] {
  const open: string[] = [];
  const tags: Tag[] = [];
  const markup = page.replace(/<style>[^<]*<\/style>/, '<style></style>').replace('<!doctype html>', '');
  for (const [, closing, name = '', attributes = '', rest] of markup.matchAll(
    /<(\/?)([a-z0-9]+)((?:\s+[a-zA-Z0-9-]+="[^"<>]*")*)\s*\/?([^>]*)>/g,
  )) {
    expect(rest, `attributes of <${name}>`).toBe('');
    if (closing) expect(open.pop(), `</${name}>`).toBe(name);
    else {
      tags.push({ name, attributes });
      if (!voidElements.has(name)) open.push(name);
    }
  }
  expect(open).toEqual([]);
  // The remaining text has no bracket that a browser could read as a tag.
  expect(markup.replace(/<\/?[a-z][^<>]*>/g, '')).not.toMatch(/[<>]/);
  return tags;
}

function named(tags: readonly Tag[], name: string): readonly Tag[] {
  return tags.filter((tag) => tag.name === name);
}

function attribute(tag: Tag, name: string): string | undefined {
  return new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(tag.attributes)?.[1];
}

const page = renderReport(reportWith(), 'html');
const tags = tagsOf(page);

it('the HTML report is well formed and has a language, an encoding and a title', () => {
  expect(page.startsWith('<!doctype html>')).toBe(true);
  expect(attribute(named(tags, 'html')[0]!, 'lang')).toBe('en');
  expect(attribute(named(tags, 'meta')[0]!, 'charset')).toBe('utf-8');
  expect(named(tags, 'title').length).toBeGreaterThan(0);
});

it('the HTML report has a caption for every table and a scope for every head cell', () => {
  expect(named(tags, 'caption').length).toBe(named(tags, 'table').length);
  expect(named(tags, 'th').filter((cell) => attribute(cell, 'scope') === undefined)).toEqual([]);
});

it('the HTML report has no script and loads nothing', () => {
  expect(named(tags, 'script')).toEqual([]);
  expect(tags.filter((tag) => /\s(?:src|href|on[a-z]+)=/.test(tag.attributes))).toEqual([]);
  const styles = tags.flatMap((tag) => attribute(tag, 'style') ?? []);
  expect(styles.filter((style) => !/^--share:[\d.]+%$/.test(style))).toEqual([]);
  expect(page).not.toMatch(/https?:|@import|url\(/);
});

it('the HTML report escapes a hostile file name', () => {
  const { run } = reportWith();
  const file = `"><script>alert('x')</script><img src=x onerror="fetch('//evil.example')">&amp;\u202Evsc.csv`;
  const hostile = renderReport(reportWith({ run: { ...run, file } }), 'html');
  expect(tagsOf(hostile)).toEqual(tags);
  expect(hostile).toContain('&#60;script&#62;alert(&#39;x&#39;)');
  expect(hostile).toContain('&#38;amp;');
  expect(hostile).not.toContain('\u202E');
});
