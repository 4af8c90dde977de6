import type pg from 'pg';
import { inject } from 'vitest';
import type { SourceStatement } from './source-statements.ts';

/** Types of the values that the driver returns, by the id of the type in PostgreSQL; other types are not checked. */
const typesById: Readonly<Record<number, string>> = {
  16: 'boolean',
  20: 'string',
  21: 'number',
  23: 'number',
  25: 'string',
  700: 'number',
  701: 'number',
  1043: 'string',
  1082: 'Date',
  1184: 'Date',
  1700: 'string',
  2950: 'string',
};

/** A column of a result, as PostgreSQL describes it. */
export type DescribedColumn = Pick<pg.FieldDef, 'name' | 'dataTypeID'>;

const mistakes = new Map<string, string | undefined>();

/**
 * Compares the columns of every statement that a pool executes with the row type of its source. A statement with other
 * columns fails.
 */
export function checkStatements(
  pool: pg.Pool,
  statements: readonly SourceStatement[] = inject('sourceStatements'),
): void {
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...parameters: unknown[]) => unknown;
    client.query = ((...parameters: unknown[]): unknown => {
      const result = query(...parameters);
      const text = textOf(parameters[0]);
      if (text === undefined || !(result instanceof Promise)) return result;
      return result.then((answer: pg.QueryResult) => {
        if (!mistakes.has(text)) {
          const statement = sourceOf(text, statements);
          mistakes.set(text, statement && mistakeIn(statement, answer.fields ?? []));
        }
        const mistake = mistakes.get(text);
        if (mistake !== undefined) throw new Error(mistake);
        return answer;
      });
    }) as typeof client.query;
  });
}

/** A warehouse that keeps plans names its statements. */
function textOf(query: unknown): string | undefined {
  return typeof query === 'string' ? query : (query as Partial<pg.QueryConfig>).text;
}

/** Compares the row type of a statement with the columns of its result. @returns undefined if they agree */
export function mistakeIn(
  { where, columns }: SourceStatement,
  described: readonly DescribedColumn[],
): string | undefined {
  if (columns === undefined) return undefined;
  const names = new Set(described.map(({ name }) => name));
  const missing = Object.keys(columns).filter((name) => !names.has(name) && !columns[name]!.isOptional);
  const unknown = [...names].filter((name) => columns[name] === undefined);
  if (missing.length > 0) return `${where}: the result has no column ${missing.join(', ')}`;
  if (unknown.length > 0) return `${where}: the row type has no column ${unknown.join(', ')}`;
  const wrong = described.find(({ name, dataTypeID }) => {
    const type = typesById[dataTypeID];
    return type !== undefined && columns[name]!.type !== 'other' && columns[name]!.type !== type;
  });
  return (
    wrong &&
    `${where}: ${wrong.name} is ${columns[wrong.name]!.type}, but a ${typesById[wrong.dataTypeID]!} returns`
  );
}

/** The statement of the source that a text was made from; undefined if several or none fit. */
function sourceOf(text: string, statements: readonly SourceStatement[]): SourceStatement | undefined {
  const candidates = statements.filter(({ texts }) => fits(text, texts));
  const longest = Math.max(shortestTemplate, ...candidates.map(lengthOf));
  const found = candidates.filter((each) => lengthOf(each) === longest);
  return found.length === 1 ? found[0] : undefined;
}

/** A template with only interpolations fits every text. */
const shortestTemplate = 30;

/** Whether a text is a template with anything in place of its interpolations. */
function fits(text: string, texts: readonly string[]): boolean {
  if (texts.length === 1) return text === texts[0];
  if (!text.startsWith(texts[0]!) || !text.endsWith(texts.at(-1)!)) return false;
  let at = texts[0]!.length;
  for (const part of texts.slice(1, -1)) {
    const next = text.indexOf(part, at);
    if (next < 0) return false;
    at = next + part.length;
  }
  return at <= text.length - texts.at(-1)!.length;
}

function lengthOf({ texts }: SourceStatement): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}
