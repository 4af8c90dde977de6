// The web site of docs/: `npm run docs`. The sidebar follows the folders of docs/ and the first heading of each page.
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { githubSlug } from '../../test/helpers/project/github-slug.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const docs = join(root, 'docs');
const { name, description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#3451b2"/>' +
  '<path d="M4 5h8M4 8h5M4 11h8" stroke="#fff" stroke-width="1.6"/></svg>';

export default defineConfig({
  title: name,
  description,
  lang: 'en',
  srcDir: '../docs',
  outDir: 'dist/html',
  cacheDir: 'node_modules/.vitepress',
  rewrites: { 'README.md': 'index.md', ':folder/README.md': ':folder/index.md' },
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(icon)}` }]],
  vite: { plugins: [{ name: 'vue-of-site', enforce: 'pre', resolveId: resolveVue }] },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: sidebar(),
    outline: [2, 3],
  },
  markdown: {
    anchor: { slugify: githubSlug },
    // Settings have examples such as http://localhost:4318.
    linkify: false,
    config: (md) => {
      md.core.ruler.push('links', ({ tokens, env }) => {
        const links = tokens
          .flatMap(({ children }) => children ?? [])
          .filter(({ type }) => type.startsWith('link_'));
        rewriteLinks(links, dirname(env.path));
      });
      const { fence } = md.renderer.rules;
      md.renderer.rules.fence = (tokens, index, ...others) => {
        const { info, content } = tokens[index];
        if (info.trim() !== 'mermaid') return fence(tokens, index, ...others);
        return `<Diagram source="${encodeURIComponent(content)}" />`;
      };
    },
  },
});

/** The build renders the pages in site/.vitepress, which finds Vue. From docs, Vite does not find it. */
function resolveVue(id, importer, { ssr }) {
  return ssr && /^vue(?:\/|$)/.test(id) ? { id, external: true } : null;
}

/** Pages in the order in which docs/README.md links to them; a page such as tables-runs.md is below tables.md. */
function sidebar() {
  const start = readFileSync(join(docs, 'README.md'), 'utf8');
  const place = (page) => (start.includes(`(${page}`) ? start.indexOf(`(${page}`) : start.length);
  const pages = readdirSync(docs, { recursive: true })
    .filter((page) => /^[^/]+\/[^/]+\.md$/.test(page))
    .sort((one, other) => place(one) - place(other) || one.localeCompare(other));
  const isBelow = (page, upper) => page.startsWith(upper.replace(/\.md$/, '-'));
  const item = (page) => {
    const below = pages.filter((other) => isBelow(other, page));
    return {
      text: headingOf(page),
      link: `/${page.replace(/README\.md$/, '')}`,
      ...(below.length > 0 && { collapsed: true, items: below.map(item) }),
    };
  };
  return [...new Set(pages.map(dirname))].map((folder) => ({
    text: folder[0].toUpperCase() + folder.slice(1),
    items: pages
      .filter((page) => dirname(page) === folder && !pages.some((upper) => isBelow(page, upper)))
      .map(item),
  }));
}

function headingOf(page) {
  const [, heading] = /^# (.+)$/m.exec(readFileSync(join(docs, page), 'utf8')) ?? [];
  if (heading === undefined) throw new Error(`docs/${page} has no heading`);
  return heading.replaceAll('`', '');
}

/** A link to a file that is no page, such as ../../schemas/tables.yaml, becomes text with the path as its tooltip. */
function rewriteLinks(links, folder) {
  for (const [index, link] of links.entries()) {
    const href = link.attrGet('href');
    if (href === null || /^(?:[a-z]+:|#)/.test(href)) continue;
    const target = relative(docs, resolve(folder, href));
    if (!target.startsWith('..')) {
      link.attrSet('href', href.replace(/README\.md/, 'index.md'));
      continue;
    }
    link.attrs = [
      ['class', 'repository-file'],
      ['title', relative(root, resolve(folder, href))],
    ];
    link.tag = links[index + 1].tag = 'span';
  }
}
