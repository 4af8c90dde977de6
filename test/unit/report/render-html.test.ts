import { describe, expect, it } from 'vitest';
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

/** The contrast by WCAG. */
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

  it('the HTML report is well formed and has a language, an encoding and a title', () => {
    expect(page.startsWith('<!doctype html>')).toBe(true);
    expect(attribute(named(tags, 'html')[0]!, 'lang')).toBe('en');
    expect(attribute(named(tags, 'meta')[0]!, 'charset')).toBe('utf-8');
    expect(named(tags, 'title').length).toBeGreaterThan(0);
  });

  it('the HTML report has one of each landmark and one h1', () => {
    const counts = ['header', 'main', 'footer', 'h1'].map((name) => named(tags, name).length);
    expect(counts).toEqual([1, 1, 1, 1]);
  });

  it('the HTML report has unique ids and refers only to existing ones', () => {
    const ids = tags.flatMap((tag) => attribute(tag, 'id') ?? []);
    const referred = tags.flatMap((tag) => attribute(tag, 'aria-labelledby')?.split(' ') ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    expect(referred.filter((id) => !ids.includes(id))).toEqual([]);
  });

  it('the HTML report draws a bar beside the figures of its row, which screen readers skip', () => {
    const bars = tags.filter((tag) => attribute(tag, 'class') === 'bar');
    expect(bars.length).toBeGreaterThan(10);
    expect(bars.every((bar) => attribute(bar, 'aria-hidden') === 'true')).toBe(true);
    expect(page).toContain('<i class="quiet" style="width:66.7%"></i><i class="good" style="width:25%"></i>');
  });

  it('the HTML report has a caption for every table and a scope for every head cell', () => {
    expect(named(tags, 'caption').length).toBe(named(tags, 'table').length);
    expect(named(tags, 'th').filter((cell) => attribute(cell, 'scope') === undefined)).toEqual([]);
  });

  it('the HTML report has no script and loads nothing', () => {
    expect(named(tags, 'script')).toEqual([]);
    expect(tags.filter((tag) => /\s(?:src|href|on[a-z]+)=/.test(tag.attributes))).toEqual([]);
    const styles = tags.flatMap((tag) => attribute(tag, 'style') ?? []);
    expect(styles.filter((style) => !/^width:[\d.]+%$/.test(style))).toEqual([]);
    expect(page).not.toMatch(/https?:|@import|url\(/);
  });

  it('the HTML report has dark and light colours and prints light ones', () => {
    expect(page).toContain('@media screen and (prefers-color-scheme: dark)');
    expect(page).toContain('@media print');
  });

  it('the HTML report skips no heading level', () => {
    const levels = tags.flatMap(({ name }) => (/^h[1-6]$/.test(name) ? [Number(name[1])] : []));
    expect(levels[0]).toBe(1);
    for (const [index, level] of levels.entries())
      expect(level).toBeLessThanOrEqual((levels[index - 1] ?? 0) + 1);
  });

  it('the HTML report puts every table into a region that scrolls by keyboard and has a label', () => {
    const regions = tags.filter((tag) => attribute(tag, 'class') === 'scroll');
    expect(regions.length).toBe(named(tags, 'table').length);
    for (const region of regions) {
      expect(attribute(region, 'tabindex')).toBe('0');
      expect(attribute(region, 'role')).toBe('region');
      expect(attribute(region, 'aria-label')).toMatch(/\w/);
    }
  });

  it.each(['light', 'dark'])(
    'the HTML report has a contrast of 4.5 in text and 3 in bars in the %s scheme',
    (scheme) => {
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
      for (const mark of ['good', 'plain', 'quiet', 'warning'])
        expect.soft(contrast(mark, 'ground'), mark).toBeGreaterThan(3);
    },
  );

  it('the HTML report escapes a hostile file name', () => {
    const { run } = reportWith();
    const file = `"><script>alert('x')</script><img src=x onerror="fetch('//evil.example')">&amp;\u202Evsc.csv`;
    const hostile = renderReport(reportWith({ run: { ...run, file } }), 'html');
    expect(tagsOf(hostile)).toEqual(tags);
    expect(hostile).toContain('&#60;script&#62;alert(&#39;x&#39;)');
    expect(hostile).toContain('&#38;amp;');
    expect(hostile).not.toContain('\u202E');
  });

  it('the HTML report renders a run without calls', () => {
    const empty = reportWith({
      outcomes: {},
      coverage: { contacts: 0, fields: [] },
      waste: [],
      costs: [],
      calls: { by_status: {}, first_at: null, last_at: null, windows: [] },
      needs_person: [],
    });
    const text = renderReport(empty, 'html');
    tagsOf(text);
    expect(text).not.toMatch(/NaN|Infinity|undefined/);
  });
});
