import { displayForm } from '../../../domain/identity/values/normalise.ts';
import { createHash } from 'node:crypto';
import { importers, type Importer } from '../../../domain/crm/importer.ts';
import { isNoValue } from './no-value.ts';

/** The id must fit into an index entry; ids of CRMs are far shorter. */
const longestId = 500;

/**
 * The id of a contact.
 *
 * @param cell of the CRM's column of record ids; empty without such a column
 * @param keys identity keys of the row
 * @returns the CRM's id; otherwise a hash of the first identity key, because ids are shown where personal data must not
 *   be; otherwise, for a row without a key, an id of the row
 */
export function contactIdOf(
  source: string,
  cell: string,
  keys: readonly string[],
  rowNumber: number,
): string {
  const id = idText(cell);
  if (id !== '' && id.length <= longestId && !isNoValue(id)) return canonicalId(source, id);
  const key = keys[0];
  return key === undefined
    ? `row:${rowNumber}`
    : `key:${createHash('sha256').update(key).digest('hex').slice(0, 32)}`;
}

const idPrefixes: ReadonlyMap<string, string> = new Map(
  Object.values<Importer>(importers).flatMap(({ source, idPrefix }): [string, string][] =>
    idPrefix === undefined ? [] : [[source, idPrefix]],
  ),
);

/** Some CRMs have two spellings of one id. */
function canonicalId(source: string, id: string): string {
  if (source === 'salesforce' && /^[A-Za-z0-9]{15}$/.test(id)) return id + salesforceSuffix(id);
  if (source === 'dynamics365' && importers.dynamics.idPattern.test(id)) return id.toLowerCase();
  const prefix = idPrefixes.get(source);
  return prefix !== undefined && id.startsWith(prefix) ? id.slice(prefix.length) : id;
}

/**
 * The last three characters of the 18-character form, which is safe where letter case is lost: each says which of five
 * characters are capitals.
 */
function salesforceSuffix(id: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345';
  return [0, 5, 10]
    .map((start) => {
      let capitals = 0;
      for (let bit = 0; bit < 5; bit += 1) {
        const character = id[start + bit]!;
        if (character >= 'A' && character <= 'Z') capitals |= 1 << bit;
      }
      return alphabet[capitals]!;
    })
    .join('');
}

/** An id as its CRM writes it. Data tools write whole numbers as `4001.0` if other cells of the column are empty. */
export function idText(cell: string): string {
  return displayForm(cell).replace(/^(\d+)\.0$/, '$1');
}
