import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderReport } from '../../../src/report/render.ts';
import { reportWith } from '../../helpers/outputs/report.ts';

/** Found on the PATH; where there is none, as in CI, these tests are skipped, and say so. */
const browser = (process.env['PATH'] ?? '')
  .split(delimiter)
  .flatMap((folder) => ['chromium', 'chromium-browser', 'google-chrome'].map((name) => join(folder, name)))
  .find((path) => existsSync(path));

/** What the browser makes of the page. The page itself has no script and allows none: a copy does. */
const measuring = `<script>
  const shown = [...document.querySelectorAll('svg, table')].filter((each) => each.getBoundingClientRect().height > 20);
  document.title = JSON.stringify({
    pageWidth: document.documentElement.scrollWidth,
    viewWidth: document.documentElement.clientWidth,
    shown: shown.length,
    ground: getComputedStyle(document.body).backgroundColor,
  });
</script>`;

interface Measures {
  readonly pageWidth: number;
  readonly viewWidth: number;
  readonly shown: number;
  readonly ground: string;
}

describe.skipIf(browser === undefined)('the HTML report in a browser', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'enrich-page-'));
    const page = renderReport(reportWith(), 'html');
    writeFileSync(join(folder, 'report.html'), page);
    writeFileSync(
      join(folder, 'measured.html'),
      page.replace(/<meta http-equiv=[^>]*>/, '').replace('</body>', `${measuring}</body>`),
    );
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

  async function browse(
    page: string,
    width: number,
    scheme: 'light' | 'dark',
    what: string,
  ): Promise<string> {
    const { stdout } = await promisify(execFile)(
      browser!,
      [
        '--headless=new',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-dev-shm-usage',
        '--hide-scrollbars',
        `--user-data-dir=${join(folder, 'profile')}`,
        `--blink-settings=preferredColorScheme=${scheme === 'dark' ? 0 : 1}`,
        `--window-size=${width},2000`,
        what,
        pathToFileURL(join(folder, page)).href,
      ],
      { maxBuffer: 10_000_000, timeout: 60_000 },
    );
    return stdout;
  }

  async function measure(width: number, scheme: 'light' | 'dark'): Promise<Measures> {
    const dom = await browse('measured.html', width, scheme, '--dump-dom');
    return JSON.parse(/<title>([^<]*)<\/title>/.exec(dom)![1]!) as Measures;
  }

  it('the HTML report shows all charts and tables in a browser, fits its window, and follows its scheme', async () => {
    const page = renderReport(reportWith(), 'html');
    const count = [...page.matchAll(/<(?:svg|table)\b/g)].length;
    const light = await measure(1_200, 'light');
    expect(light.shown).toBe(count);
    expect(light.pageWidth).toBeLessThanOrEqual(light.viewWidth);
    const dark = await measure(520, 'dark');
    expect(dark.shown).toBe(count);
    expect(dark.pageWidth).toBeLessThanOrEqual(dark.viewWidth);
    expect([light.ground, dark.ground]).toEqual(['rgb(255, 255, 255)', 'rgb(18, 22, 29)']);
  });

  it('the HTML report makes a picture in a browser that is not blank', async () => {
    const picture = join(folder, 'report.png');
    await browse('report.html', 1_200, 'light', `--screenshot=${picture}`);
    // A blank page of this size compresses to some 10 KB.
    expect(readFileSync(picture).length).toBeGreaterThan(60_000);
  });
});
