import { headersOfField, type ImportField } from '../../domain/crm/importer.ts';
import { headerKey } from '../../domain/text/header-name.ts';

/** Fields of the coverage whose columns are found by their names. */
export type NamedField = 'email' | 'phone' | 'title' | 'city' | 'country';

const fieldsOfImport: Readonly<Record<NamedField, readonly ImportField[]>> = {
  email: ['email'],
  phone: ['phone', 'mobile_phone'],
  title: ['title'],
  city: ['city'],
  country: ['country'],
};

/** Words that name the field in headers of any program. */
const ownWords: Readonly<Record<NamedField, readonly string[]>> = {
  email: ['email', 'emails', 'mail'],
  phone: ['phone', 'phones', 'mobile', 'telephone', 'mobilephone', 'cell', 'tel'],
  title: ['title', 'jobtitle', 'position', 'titre'],
  city: ['city', 'town'],
  country: ['country'],
};

/**
 * Words that a column name may have beside its keyword. Without `company`, `owner`, `assistant`, `fax`,
 * `type` and `do not call`, because such columns are not about the contact's own value.
 */
const qualifiers = new Set(
  (
    'a address business cell contact corporate current direct e home job json jsonb list mailing main mobile number ' +
    'numbers other person personal phone postal postale primary private region secondary value work'
  ).split(' '),
);

/**
 * Finds the columns of a field: those with a header that importers know in any language, and those whose name has a
 * keyword and otherwise only qualifiers. For `phone`: `Person - Phone - Work`, `phone_home`, `telephone1`,
 * `Téléphone`.
 *
 * @param header the names of the columns
 * @returns column numbers, from 1
 */
export function columnsNamed(header: readonly string[], field: NamedField): number[] {
  const names = fieldsOfImport[field].flatMap(headersOfField);
  const keys = new Set(names.map(headerKey));
  const ofOneWord = names.map(wordsOf).filter((words) => words.length === 1);
  const keywords = new Set([...ownWords[field], ...ofOneWord.flat()]);
  return header.flatMap((cell, index) => {
    if (keys.has(headerKey(cell))) return [index + 1];
    const named = wordsOf(cell);
    const others = named.filter((word) => !keywords.has(word));
    return others.length < named.length && others.every((word) => qualifiers.has(word)) ? [index + 1] : [];
  });
}

/** The lower-case words of a name, without numbers: `telephone1`, `Address 1: City`. */
function wordsOf(name: string): string[] {
  return (
    name
      .normalize('NFKC')
      .replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ')
      .toLowerCase()
      .match(/\p{L}+/gu) ?? []
  );
}
