/** The anchor of a heading, as GitHub and the web site of docs/ make it (`site/.vitepress/config.mjs`). */
export function githubSlug(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-');
}
