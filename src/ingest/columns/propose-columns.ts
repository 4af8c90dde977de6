import { parseDomain } from '../../domain/identity/domain-name.ts';
import { parseEmails, parseHashedEmail } from '../../domain/identity/email-address.ts';
import { parseProfileUrl } from '../../domain/identity/profile-url.ts';
import { headerKey } from './header-name.ts';
import { commonNames, type Field } from './known-exports.ts';
import { optOutOf } from './opt-out.ts';

/** Fields that cells show by themselves. */
const contents: readonly [Field, (cell: string) => unknown][] = [
  ['email', (cell) => parseEmails(cell)[0]],
  ['hashed_email', parseHashedEmail],
  ['profile_url', parseProfileUrl],
  ['domain', (cell) => (/^(?:https?:\/\/)?[\w-]+(?:\.[\w-]+)+/.test(cell) ? parseDomain(cell) : undefined)],
];
/** Parts of names that are too general to be read as a name of their own, and good enough to be proposed. */
const hints: readonly [string, Field][] = [
  ['mail', 'email'],
  ['firm', 'organization_name'],
  ['company', 'organization_name'],
  ['employer', 'organization_name'],
  ['arbeitgeber', 'organization_name'],
  ['unternehmen', 'organization_name'],
  ['employeur', 'organization_name'],
  ['empleador', 'organization_name'],
  ['werkgever', 'organization_name'],
  ['linkedin', 'profile_url'],
  ['surname', 'last_name'],
];
const shortestName = 4;

/**
 * Proposes what the columns of a header hold that is not recognised: by their cells, then by a known name within their
 * name. A proposal is for a person to check, and is never taken without being asked for.
 *
 * @param rows the first rows
 * @returns a field for each column of the header; undefined: none is proposed
 */
export function proposeColumns(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): (Field | undefined)[] {
  const taken = new Set<Field>();
  const once = (field: Field | undefined): Field | undefined => {
    if (field === undefined || (field !== 'email' && taken.has(field))) return undefined;
    taken.add(field);
    return field;
  };
  const byCells = header.map((_, column) =>
    once(fieldOfCells(rows.map((row) => (row[column] ?? '').trim()).filter((cell) => cell !== ''))),
  );
  const proposed = header.map((name, column) => byCells[column] ?? once(fieldOfName(name)));
  const id = header.findIndex((name, column) => proposed[column] === undefined && isId(name, rows, column));
  return taken.has('contact_id') || id === -1 ? proposed : proposed.with(id, 'contact_id');
}

/** Whether a column is named like an id, and each row has another value in it. */
function isId(name: string, rows: readonly (readonly string[])[], column: number): boolean {
  const cells = rows.map((row) => (row[column] ?? '').trim());
  return (
    /(?:^|[^\p{L}])(?:id|nr|no|number|key)\.?$|(?:Id|ID|[nN]r|[nN]ummer|[nN]úmero|[nN]uméro|[nN]umber)$/u.test(
      name,
    ) &&
    cells.length > 0 &&
    cells.every((cell) => /^\S+$/.test(cell)) &&
    new Set(cells).size === cells.length
  );
}

function fieldOfCells(cells: readonly string[]): Field | undefined {
  return contents.find(([, read]) => {
    const readable = cells.filter((cell) => read(cell) !== undefined).length;
    return readable > 0 && readable * 2 > cells.length;
  })?.[0];
}

function fieldOfName(name: string): Field | undefined {
  // Opt-outs are found by themselves.
  if (optOutOf(name) !== undefined) return undefined;
  const key = headerKey(name);
  const known = Object.entries(commonNames)
    .flatMap(([field, names]) => names.map((each): [string, Field] => [headerKey(each), field as Field]))
    .concat(hints)
    .filter(([each]) => each.length >= shortestName && key.includes(each));
  return known.sort(([one], [other]) => other.length - one.length)[0]?.[1];
}
