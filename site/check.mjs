// Checks the built site (site/dist/html): its links, and each page in Chromium if one is installed.
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { serve } from 'vitepress';
import { freePort } from '../scripts/free-port.mjs';

const root = fileURLToPath(new URL('.', import.meta.url));
const html = join(root, 'dist/html');
const screenshots = join(root, 'dist/screenshots');
const looks = {
  light: { colorScheme: 'light', viewport: { width: 1440, height: 900 } },
  dark: { colorScheme: 'dark', viewport: { width: 1440, height: 900 } },
  narrow: { colorScheme: 'light', viewport: { width: 390, height: 844 } },
};

const pages = readdirSync(html, { recursive: true }).filter((name) => name.endsWith('.html'));
const problems = pages.flatMap(brokenLinks);

const executablePath = findBrowser();
if (executablePath === undefined) {
  console.log('no Chromium (CHROMIUM, or chromium, google-chrome or chrome on the PATH): no page was opened');
} else {
  rmSync(screenshots, { recursive: true, force: true });
  problems.push(...(await openPages()));
  console.log(`screenshots: ${screenshots}`);
}

for (const problem of problems) console.error(problem);
console.log(`${pages.length} pages, ${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);

/** Links and images of a page that lead to no file or to no heading. */
function brokenLinks(page) {
  const links = [...readFileSync(join(html, page), 'utf8').matchAll(/\s(?:href|src)="([^"]*)"/g)];
  return links
    .map(([, link]) => link.replaceAll('&amp;', '&'))
    .filter((link) => !/^(?:[a-z]+:|\/\/)/.test(link) && !leadsSomewhere(page, link))
    .map((link) => `${page}: the link ${link} is broken`);
}

function leadsSomewhere(page, link) {
  const { pathname, hash } = new URL(link, `http://site/${page}`);
  const target = join(html, decodeURIComponent(pathname.replace(/\/$/, '/index.html')));
  if (!existsSync(target)) return false;
  return hash === '' || readFileSync(target, 'utf8').includes(` id="${decodeURIComponent(hash.slice(1))}"`);
}

function findBrowser() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  return process.env.PATH.split(delimiter)
    .flatMap((folder) => ['chromium', 'google-chrome', 'chrome'].map((name) => join(folder, name)))
    .find((file) => existsSync(file));
}

async function openPages() {
  const port = await freePort();
  const { server } = await serve({ root, port });
  const browser = await chromium.launch({ executablePath });
  try {
    const origin = `http://localhost:${port}`;
    const context = await browser.newContext({ reducedMotion: 'reduce' });
    context.setDefaultTimeout(120_000);
    const found = [];
    for (const name of pages) found.push(...(await openPage(await context.newPage(), name, origin)));
    return [...found, ...(await searchFor(await context.newPage(), 'budget', origin))];
  } finally {
    await browser.close();
    server.close();
  }
}

/** @returns the errors of a page in all its looks */
async function openPage(page, name, origin) {
  const found = new Set();
  const say = (text) => found.add(`${name}: ${text}`);
  page.on('console', (message) => message.type() === 'error' && say(`console: ${message.text()}`));
  page.on('pageerror', (error) => say(error.stack));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`) && !request.url().startsWith('data:')) {
      say(`asks another host: ${request.url()}`);
    }
  });
  page.on('requestfailed', (request) => say(`${request.failure()?.errorText}: ${request.url()}`));
  page.on(
    'response',
    (response) => response.status() >= 400 && say(`${response.status()}: ${response.url()}`),
  );
  await page.goto(`${origin}/${name}`, { waitUntil: 'networkidle' });
  for (const [look, { viewport, colorScheme }] of Object.entries(looks)) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    await page.waitForFunction(() => document.querySelector('pre.diagram') === null).catch(say);
    const { overflow, scales } = await page.evaluate(measure);
    if (overflow > 0) say(`${overflow} pixels too wide (${look})`);
    if (scales.some((scale) => scale < 0.7))
      say(`a diagram is too wide for its letters to be legible (${look})`);
    const path = join(screenshots, look, name.replace(/html$/, 'png'));
    await page.screenshot({ path, fullPage: true });
  }
  await page.close();
  return found;
}

/** Runs in the page. */
function measure() {
  return {
    overflow: document.documentElement.scrollWidth - window.innerWidth,
    scales: [...document.querySelectorAll('.diagram svg')].map(
      (svg) => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width,
    ),
  };
}

async function searchFor(page, words, origin) {
  await page.goto(origin, { waitUntil: 'networkidle' });
  await page.keyboard.press('Control+k');
  await page.locator('.VPLocalSearchBox input').fill(words);
  const result = page.locator('.VPLocalSearchBox .result').first();
  const isFound = await result.waitFor().then(
    () => true,
    () => false,
  );
  await page.screenshot({ path: join(screenshots, 'search.png') });
  return isFound ? [] : [`the search finds no ${words}`];
}
