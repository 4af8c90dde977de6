import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'rolldown/parseAst';

/** A raw statement of the source: a template `sql` that is executed. */
export interface SourceStatement {
  /** File and line. */
  readonly where: string;
  /** The text between the interpolations. */
  readonly texts: readonly string[];
  /** Columns of the asserted row type by name; undefined without a type argument. */
  readonly columns: Readonly<Record<string, AssertedColumn>> | undefined;
}

interface AssertedColumn {
  /** `string`, `number`, `boolean` or `Date`; `other` for every other type. */
  readonly type: string;
  readonly isOptional: boolean;
}

/** A node of the syntax tree (ESTree with TypeScript); its members depend on `type`. */
interface Node {
  readonly type: string;
  readonly start: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- the tree of a parser, of which few members are read
  readonly [member: string]: any;
}

interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly body: readonly Node[];
}

/** A type with the file that its names are looked up in. */
type Located = readonly [type: Node, file: SourceFile, isOptional?: boolean];

const root = fileURLToPath(new URL('../../../', import.meta.url));
const files = new Map<string, SourceFile>();

/**
 * Every executed template `sql` of `src`, except those of migrations.
 *
 * @throws Error for a row type it cannot resolve
 */
export function readSourceStatements(): SourceStatement[] {
  return readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name.endsWith('.ts') && !entry.parentPath.includes('migrations'))
    .flatMap((entry) => statementsOf(parse(join(entry.parentPath, entry.name))));
}

function parse(path: string): SourceFile {
  const known = files.get(path);
  if (known) return known;
  const text = readFileSync(path, 'utf8');
  const file = { path, text, body: parseAst(text, { lang: 'ts' }, path).body as unknown as Node[] };
  files.set(path, file);
  return file;
}

function statementsOf(file: SourceFile): SourceStatement[] {
  const found: SourceStatement[] = [];
  const visit = (node: Node, parent: Node | undefined): void => {
    const isStatement =
      node.type === 'TaggedTemplateExpression' &&
      node['tag'].name === 'sql' &&
      parent?.type === 'MemberExpression' &&
      parent['property'].name === 'execute';
    if (isStatement) found.push(statementOf(node, file));
    for (const child of Object.values(node).flat())
      if (typeof child === 'object' && child !== null && 'type' in child) visit(child, node);
  };
  for (const node of file.body) visit(node, undefined);
  return found;
}

function statementOf(template: Node, file: SourceFile): SourceStatement {
  const line = file.text.slice(0, template.start).split('\n').length;
  const where = `${relative(root, file.path)}:${line}`;
  const type: Node | undefined = template['typeArguments']?.params[0];
  return {
    where,
    texts: template['quasi'].quasis.map((quasi: Node) => quasi['value'].cooked),
    columns: type && columnsOf([type, file], where),
  };
}

/** Undefined for a type whose members are computed. */
function columnsOf(type: Located, where: string): SourceStatement['columns'] {
  const members = membersOf(type);
  if (members === undefined) return undefined;
  if (members.size === 0) throw new Error(`${where}: the row type has no known members`);
  return Object.fromEntries(
    [...members].map(([name, [member, , isOptional = false]]) => [
      name,
      { type: plainType(member), isOptional },
    ]),
  );
}

/** The members of an object type by name; undefined for a type whose members are computed. */
function membersOf([type, file]: Located): Map<string, Located> | undefined {
  switch (type.type) {
    case 'TSTypeLiteral':
      return ownMembers(type['members'], file);
    case 'TSIntersectionType':
      return new Map(
        type['types'].flatMap((each: Node) => [...(membersOf([each, file]) ?? [])]) as [string, Located][],
      );
    case 'TSIndexedAccessType': {
      const member = memberOf(type, file);
      return member && membersOf(member);
    }
    case 'TSTypeReference': {
      const name: string = type['typeName'].name;
      const [first, second] = (type['typeArguments']?.params ?? []) as Node[];
      if (name === 'Record' || name === 'Selectable') return undefined;
      if (name === 'Readonly') return membersOf([first!, file]);
      if (name === 'Omit' || name === 'Pick') {
        const names = new Set(literals(second!));
        const members = [...(membersOf([first!, file]) ?? [])];
        return new Map(members.filter(([member]) => names.has(member) === (name === 'Pick')));
      }
      const declared = declarationOf(name, file);
      if (!declared) return new Map();
      const [declaration, from] = declared;
      if (declaration.type === 'TSTypeAliasDeclaration')
        return membersOf([declaration['typeAnnotation'], from]);
      const inherited = (declaration['extends'] as Node[]).map((each) =>
        membersOf([{ ...each, type: 'TSTypeReference', typeName: each['expression'] }, from]),
      );
      if (inherited.includes(undefined)) return undefined;
      return new Map([
        ...inherited.flatMap((each) => [...each!]),
        ...ownMembers(declaration['body'].body, from),
      ]);
    }
    default:
      return new Map();
  }
}

function ownMembers(members: readonly Node[], file: SourceFile): Map<string, Located> {
  return new Map(
    members.map((member): [string, Located] => [
      member['key'].name ?? member['key'].value,
      [member['typeAnnotation'].typeAnnotation, file, member['optional'] === true],
    ]),
  );
}

/** `State['runs']`, `State['runs'][number]` */
function memberOf(access: Node, file: SourceFile): Located | undefined {
  const object: Node = access['objectType'];
  const inner = object.type === 'TSIndexedAccessType' ? memberOf(object, file) : ([object, file] as const);
  if (!inner) return undefined;
  if (access['indexType'].type !== 'TSNumberKeyword')
    return membersOf(inner)?.get(literals(access['indexType'])[0]!);
  let [list] = inner;
  if (list.type === 'TSTypeOperator') list = list['typeAnnotation'];
  return [list['elementType'], inner[1]];
}

function literals(type: Node): string[] {
  if (type.type === 'TSUnionType') return type['types'].flatMap((each: Node) => literals(each));
  return [type['literal'].value];
}

function declarationOf(name: string, file: SourceFile): Located | undefined {
  for (const statement of file.body) {
    const declaration: Node = statement['declaration'] ?? statement;
    const isType = /^TS(?:Interface|TypeAlias)Declaration$/.test(declaration.type);
    if (isType && declaration['id'].name === name) return [declaration, file];
    const source: string | undefined = statement['source']?.value;
    const specifier = (statement['specifiers'] as Node[] | undefined)?.find(
      (each) => (each['local'] ?? each['exported']).name === name,
    );
    if (specifier && source?.startsWith('.'))
      return declarationOf(
        (specifier['imported'] ?? specifier['local']).name,
        parse(join(dirname(file.path), source)),
      );
  }
  return undefined;
}

/** `string`, `number`, `boolean`, `Date`; `other` for every other type. Null is left out. */
function plainType(type: Node): string {
  switch (type.type) {
    case 'TSStringKeyword':
      return 'string';
    case 'TSNumberKeyword':
      return 'number';
    case 'TSBooleanKeyword':
      return 'boolean';
    case 'TSUnionType': {
      const types = (type['types'] as Node[]).filter((each) => each.type !== 'TSNullKeyword');
      return types.length === 1 ? plainType(types[0]!) : 'other';
    }
    case 'TSTypeReference':
      return type['typeName'].name === 'Date' ? 'Date' : 'other';
    default:
      return 'other';
  }
}
