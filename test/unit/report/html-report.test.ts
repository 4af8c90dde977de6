import { describe, expect, it } from 'vitest';
import { renderReport } from '../../../src/report/render.ts';
import { reportWith } from '../../helpers/report.ts';

const voidElements = new Set(['meta', 'br']);

interface Tag {
  readonly name: string;
  readonly attributes: string;
}

/** The tags of a page in their order; fails where one is not closed in its place. */
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
  // Whatever is left of the text holds no bracket that a browser could take for a tag.
  expect(markup.replace(/<\/?[a-z][^<>]*>/g, '')).not.toMatch(/[<>]/);
  return tags;
}

function named(tags: readonly Tag[], name: string): readonly Tag[] {
  return tags.filter((tag) => tag.name === name);
}

function attribute(tag: Tag, name: string): string | undefined {
  return new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(tag.attributes)?.[1];
}

/** As WCAG defines it. */
function contrastOf(one: string, other: string): number {
  const [lighter, darker] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(colour: string): number {
  const hex = colour.length === 4 ? colour.replace(/\w/g, '$&$&') : colour;
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

describe('the HTML report', () => {
  const page = renderReport(reportWith(), 'html');
  const tags = tagsOf(page);

  it('is well formed and says its language, its encoding and its title', () => {
    expect(page.startsWith('<!doctype html>')).toBe(true);
    expect(attribute(named(tags, 'html')[0]!, 'lang')).toBe('en');
    expect(attribute(named(tags, 'meta')[0]!, 'charset')).toBe('utf-8');
    expect(named(tags, 'title').length).toBeGreaterThan(0);
  });

  it('has one of each landmark and one first heading', () => {
    const counts = ['header', 'main', 'footer', 'h1'].map((name) => named(tags, name).length);
    expect(counts).toEqual([1, 1, 1, 1]);
  });

  it('gives no id twice, and refers to none that is not there', () => {
    const ids = tags.flatMap((tag) => attribute(tag, 'id') ?? []);
    const referred = tags.flatMap((tag) => attribute(tag, 'aria-labelledby')?.split(' ') ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    expect(referred.filter((id) => !ids.includes(id))).toEqual([]);
  });

  it('describes every chart to who does not see it', () => {
    const charts = named(tags, 'svg');
    expect(charts.length).toBe(5);
    expect(named(tags, 'desc').length).toBe(charts.length);
    expect(charts.map((chart) => attribute(chart, 'role'))).toEqual(charts.map(() => 'img'));
  });

  it('gives every table a caption, and every head cell its scope', () => {
    expect(named(tags, 'caption').length).toBe(named(tags, 'table').length);
    expect(named(tags, 'th').filter((cell) => attribute(cell, 'scope') === undefined)).toEqual([]);
  });

  it('needs no script and nothing from elsewhere', () => {
    expect(named(tags, 'script')).toEqual([]);
    expect(tags.filter((tag) => /\s(?:src|href|style|on[a-z]+)=/.test(tag.attributes))).toEqual([]);
    expect(page).not.toMatch(/https?:|@import|url\(/);
  });

  it('has colours for both grounds, and light ones on paper', () => {
    expect(page).toContain('@media screen and (prefers-color-scheme: dark)');
    expect(page).toContain('@media print');
  });

  it('says its headings in steps of one', () => {
    const levels = tags.flatMap(({ name }) => (/^h[1-6]$/.test(name) ? [Number(name[1])] : []));
    expect(levels[0]).toBe(1);
    for (const [index, level] of levels.entries())
      expect(level).toBeLessThanOrEqual((levels[index - 1] ?? 0) + 1);
  });

  it('can be scrolled by keyboard where a table is wider than the page, and says what is scrolled', () => {
    const regions = tags.filter((tag) => attribute(tag, 'class') === 'scroll');
    expect(regions.length).toBe(named(tags, 'table').length);
    for (const region of regions) {
      expect(attribute(region, 'tabindex')).toBe('0');
      expect(attribute(region, 'role')).toBe('region');
      expect(attribute(region, 'aria-label')).toMatch(/\w/);
    }
  });

  it.each(['light', 'dark'])('has a contrast of 4.5 in text and 3 in charts, %s', (scheme) => {
    const blocks = [...page.matchAll(/:root \{([^}]*)\}/g)].map(([, block]) => block!);
    const colours = new Map<string, string>();
    for (const [, name, colour] of (scheme === 'light' ? blocks.slice(0, 1) : blocks)
      .join('')
      .matchAll(/--(\w+): (#[0-9a-f]{3,6})/g))
      colours.set(name!, colour!);
    const contrast = (one: string, other: string): number =>
      contrastOf(colours.get(one)!, colours.get(other)!);
    for (const ground of ['ground', 'panel'])
      for (const text of ['text', 'soft'])
        expect.soft(contrast(text, ground), `${text} on ${ground}`).toBeGreaterThan(4.5);
    for (const mark of ['good', 'plain', 'quiet', 'warning', 'late', 'other'])
      expect.soft(contrast(mark, 'ground'), mark).toBeGreaterThan(3);
  });

  it('shows a hostile file name as text', () => {
    const { run } = reportWith();
    const file = `"><script>alert('x')</script><img src=x onerror="fetch('//evil.example')">&amp;\u202Evsc.csv`;
    const hostile = renderReport(reportWith({ run: { ...run, file } }), 'html');
    expect(tagsOf(hostile)).toEqual(tags);
    expect(hostile).toContain('&#60;script&#62;alert(&#39;x&#39;)');
    expect(hostile).toContain('&#38;amp;');
    expect(hostile).not.toContain('\u202E');
  });

  it('draws a run in which nothing happened yet', () => {
    const empty = reportWith({
      outcomes: {},
      coverage: { contacts: 0, fields: [] },
      waste: [],
      costs: [],
      calls: { by_status: {}, first_at: null, last_at: null, bucket_seconds: 1, buckets: [], windows: [] },
      needs_person: [],
    });
    const text = renderReport(empty, 'html');
    tagsOf(text);
    expect(text).not.toMatch(/NaN|Infinity|undefined/);
  });
});
