import { readdirSync, readFileSync } from 'node:fs';
import { parseSync } from 'rolldown/utils';
import { pauseReasons } from '../../src/contract/pause-reasons.ts';
import { failureKinds } from '../../src/service/failures/failure.ts';
import { code, prose, table } from './page.ts';
import { composedErrors, computedTypes, noErrors } from './composed-errors.ts';

interface Node {
  readonly type: string;
  readonly [member: string]: unknown;
}

interface ErrorText {
  readonly what: string | undefined;
  readonly next: string | undefined;
}

const root = new URL('../../', import.meta.url);

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

function nodesOf(value: unknown, found: Node[] = []): Node[] {
  if (Array.isArray(value)) for (const each of value) nodesOf(each, found);
  else if (isNode(value)) {
    found.push(value);
    for (const member of Object.values(value)) nodesOf(member, found);
  }
  return found;
}

const list = (value: unknown): readonly Node[] => (value ?? []) as readonly Node[];

/**
 * Matches an error type such as `export.empty`. A file such as `server.json` matches too, so `noErrors` excludes these.
 */
const typeForm = /^[a-z][a-z-]*\.[a-z][a-z-]*$/;

/** Matches a composed error type such as `service.*`, which stands for the template `service.${type}`. */
const computedForm = /^(?:\*\.[a-z-]+|[a-z-]+\.\*)$/;

/** Returns the error types that an expression can be: both branches of a condition, and `*.start` for a template. */
function typesOf(node: Node | undefined): readonly string[] {
  if (node?.type === 'Literal') return typeForm.test(String(node['value'])) ? [String(node['value'])] : [];
  if (node?.type === 'ConditionalExpression')
    return [...typesOf(node['consequent'] as Node), ...typesOf(node['alternate'] as Node)];
  if (node?.type !== 'TemplateLiteral') return [];
  const pattern = list(node['quasis'])
    .map(({ value }) => (value as { cooked: string }).cooked)
    .join('*');
  return computedTypes[pattern] ?? (computedForm.test(pattern) ? [pattern] : []);
}

interface Binding {
  readonly name: string;
  readonly start: number;
  /** Undefined for a parameter, because its value is known only at runtime. */
  readonly init: Node | undefined;
}

/** Evaluates texts in the code. Parts that are known only at runtime become … */
class Texts {
  readonly #bindings: readonly Binding[];

  constructor(nodes: readonly Node[]) {
    const bindings: Binding[] = [];
    for (const node of nodes) {
      const init = isNode(node['init']) ? node['init'] : undefined;
      const named = node.type === 'VariableDeclarator' ? [node['id']] : list(node['params']);
      for (const each of named)
        if (isNode(each) && each.type === 'Identifier')
          bindings.push({ name: String(each['name']), start: Number(each['start']), init });
    }
    this.#bindings = bindings;
  }

  /** Returns the value of a constant: the nearest declaration of this name before its use. */
  #valueOf({ name, start }: { readonly name: string; readonly start: number }): Node | undefined {
    const before = this.#bindings.filter((each) => each.name === name && each.start < start);
    return before.toSorted((one, other) => other.start - one.start)[0]?.init;
  }

  /** Returns the text of an expression. @param branch the branch to take if the types are a condition too */
  of(node: Node | undefined, branch?: 'consequent' | 'alternate'): string | undefined {
    if (node === undefined) return undefined;
    switch (node.type) {
      case 'Literal':
        return typeof node['value'] === 'string' ? node['value'] : undefined;
      case 'TemplateLiteral':
        return list(node['quasis'])
          .map(({ value }, index) => {
            const expression = list(node['expressions'])[index];
            const text = (value as { cooked: string }).cooked;
            return expression ? text + (this.of(expression, branch) ?? '…') : text;
          })
          .join('');
      case 'BinaryExpression':
        return (
          (this.of(node['left'] as Node, branch) ?? '…') + (this.of(node['right'] as Node, branch) ?? '…')
        );
      case 'ConditionalExpression':
        return this.of(node[branch ?? 'consequent'] as Node) ?? this.of(node['alternate'] as Node);
      case 'ParenthesizedExpression':
        return this.of(node['expression'] as Node, branch);
      case 'Identifier':
        return this.of(this.#valueOf(node as unknown as { name: string; start: number }), branch);
      default:
        return undefined;
    }
  }
}

const property = (object: Node | undefined, ...names: readonly string[]): Node | undefined =>
  list(object?.['properties']).find(({ key }) => isNode(key) && names.includes(String(key['name'])))?.[
    'value'
  ] as Node | undefined;

const hasWords = (text: string | undefined): text is string => text !== undefined && /[a-z]/.test(text);

/** Returns the texts beside each type of an error, a pause or a failed run, once for each place in the code. */
function textsOfCode(): ReadonlyMap<string, readonly ErrorText[]> {
  const found = new Map<string, ErrorText[]>();
  const add = (types: readonly string[], textOf: (index: number) => ErrorText): void => {
    for (const [index, type] of types.entries()) found.set(type, [...(found.get(type) ?? []), textOf(index)]);
  };
  for (const folder of ['src', 'workflows', 'activities']) {
    for (const name of readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.ts')) continue;
      const { program } = parseSync(name, readFileSync(new URL(`${folder}/${name}`, root), 'utf8'));
      const nodes = nodesOf(program);
      const texts = new Texts(nodes);
      for (const node of nodes) {
        if (node.type === 'ObjectExpression') {
          const [what, next] = [property(node, 'reason'), property(node, 'next')].map((each) =>
            texts.of(each),
          );
          add(typesOf(property(node, 'type', 'reason_type')), () => ({ what, next }));
        } else if (node.type === 'NewExpression' || node.type === 'CallExpression') {
          const given = list(node['arguments']);
          const place = given.findIndex((each) => typesOf(each).length > 0);
          if (place >= 0)
            add(typesOf(given[place]), (index) => textAfter(given.slice(place + 1), texts, index));
        } else add(typesOf(node), () => ({ what: undefined, next: undefined }));
      }
    }
  }
  return found;
}

/**
 * Returns the text that follows a type.
 *
 * @param index number of the type in a condition, whose branch the texts share
 */
function textAfter(given: readonly Node[], texts: Texts, index: number): ErrorText {
  const branch = index === 0 ? 'consequent' : 'alternate';
  const next = given.map((each) => texts.of(property(each, 'next'))).find(hasWords);
  const [what, ...others] = given.map((each) => texts.of(each, branch)).filter(hasWords);
  return { what, next: next ?? others.at(-1) };
}

interface ErrorRow extends ErrorText {
  readonly type: string;
}

/** Returns a row for each place with texts. `bare` lists types without texts in the code and in `composedErrors`. */
export function readErrors(): { readonly rows: readonly ErrorRow[]; readonly bare: readonly string[] } {
  const words = Object.keys(composedErrors).filter((type) => !type.includes('.'));
  const rows = [...textsOfCode(), ...words.map((type) => [type, []] as const)]
    .filter(([type]) => !noErrors.test(type) && !Object.hasOwn(failureKinds, type))
    .flatMap(([type, texts]) => rowsOf(type, texts))
    .toSorted((one, other) => one.type.localeCompare(other.type));
  return { rows, bare: rows.filter(({ what, next }) => !what || !next).map(({ type }) => type) };
}

function rowsOf(type: string, texts: readonly ErrorText[]): readonly ErrorRow[] {
  const composed = composedErrors[type];
  if (composed !== undefined) return [{ type, what: composed[0], next: composed[1] }];
  const meaning = (pauseReasons as Readonly<Record<string, { readonly meaning: string }>>)[type]?.meaning;
  const complete = texts
    .map(({ what, next }) => ({ type, what: meaning ?? what, next }))
    .filter(({ what, next }) => hasWords(what) && hasWords(next));
  if (complete.length === 0) return [{ type, what: meaning, next: undefined }];
  return [...new Map(complete.map((row) => [`${row.what} ${row.next}`, row])).values()];
}

const header = ['Type', 'What is wrong', 'What to do'];

const namespaceOf = (type: string): string => type.replace(/\..*/, '');

function tableOf(rows: readonly ErrorRow[]): string {
  return table(
    header,
    rows.map(({ type, what = '', next = '' }) => [code(type), prose(what), prose(next)]),
  );
}

/** Prefixes of error types (the part before the dot) on each page. Other types are on the page `errors`. */
const pages = {
  'errors-exports': ['column', 'export', 'mapping', 'source'],
  'errors-warehouse': [
    'changes',
    'contact',
    'decision',
    'erasure',
    'output',
    'person',
    'policy',
    'role',
    'sql',
    'truth',
    'warehouse',
  ],
  'errors-servers': [
    'codec',
    'data-directory',
    'database',
    'lock',
    'port',
    'postgres',
    'sandbox',
    'scenario',
    'server',
    'temporal',
    'worker',
    'workflow',
  ],
  'errors-service': ['match', 'service'],
} as const;

type ErrorsPage = keyof typeof pages;
export const errorsPages = Object.keys(pages) as ErrorsPage[];

export function errorsPage(rows: readonly ErrorRow[], page: 'errors' | ErrorsPage): string {
  const named: readonly string[] = page === 'errors' ? Object.values(pages).flat() : pages[page];
  const chosen = tableOf(
    rows.filter(({ type }) => named.includes(namespaceOf(type)) === (page !== 'errors')),
  );
  if (page !== 'errors-service') return chosen;
  const failures = Object.entries(failureKinds).map(([type, { what, next }]) => ({ type, what, next }));
  return `${chosen}\n\n## Failed calls\n\n${tableOf(failures)}`;
}
