import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

/** Reads a file of the project. */
export const read = (name: string) => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');

/** Reads the product's alerts. */
export function readRules(): readonly Rule[] {
  const { groups } = parse(read('deploy/prometheus/alerts.yml')) as { groups: { rules: Rule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

/** Reads the panels of the product's dashboard. */
export function readPanels(): readonly Panel[] {
  return (JSON.parse(read('deploy/grafana/enrich.json')) as { panels: Panel[] }).panels;
}

const words = new Set(['and', 'or', 'unless', 'bool', 'offset']);

/** Returns the names of metrics in a PromQL expression, without functions, labels and keywords. */
export function metricsOf(expression: string): string[] {
  const bare = expression
    .replace(/"[^"]*"|'[^']*'/g, '')
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, ' ')
    .replace(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, ' ');
  return [...bare.matchAll(/[a-zA-Z_:][\w:]*(?!\w)(?!\s*\()/g)]
    .map(([name]) => name)
    .filter((name) => !words.has(name));
}
