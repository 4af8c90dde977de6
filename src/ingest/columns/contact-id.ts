import { createHash } from 'node:crypto';
import { importers } from '../../domain/crm/importer.ts';
import { displayForm } from '../../domain/identity/normalise.ts';
import { isNoValue } from './row-fit.ts';

/** An index entry must hold it; ids of CRMs are far shorter. */
const longestId = 500;

/**
 * The id that a contact is filed under.
 *
 * @param cell of the CRM's own id column; empty where there is none
 * @param keys identity keys of the row
 * @returns the CRM's id; or a stable key of the identity, hashed because ids are shown where personal data must not be;
 *   or the row, where no person can be told
 */
export function contactIdOf(
  source: string,
  cell: string,
  keys: readonly string[],
  rowNumber: number,
): string {
  const id = displayForm(cell);
  if (id !== '' && id.length <= longestId && !isNoValue(id)) return canonicalId(source, id);
  const key = keys[0];
  return key === undefined
    ? `row:${rowNumber}`
    : `key:${createHash('sha256').update(key).digest('hex').slice(0, 32)}`;
}

/** Three CRMs write one id in two ways. */
function canonicalId(source: string, id: string): string {
  if (source === 'salesforce' && /^[A-Za-z0-9]{15}$/.test(id)) return id + salesforceSuffix(id);
  if (source === 'dynamics365' && importers.dynamics.idPattern.test(id)) return id.toLowerCase();
  const { idPrefix } = importers.zoho;
  if (source === 'zoho' && id.startsWith(idPrefix)) return id.slice(idPrefix.length);
  return id;
}

/**
 * The three characters by which the 18-character form, safe where letter case is lost, goes beyond the one of 15: each
 * says which of five characters are capitals.
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
