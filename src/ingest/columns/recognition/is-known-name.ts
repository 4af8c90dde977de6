import { headerKey } from '../../../domain/text/header-name.ts';
import { listed } from '../../../domain/text/listed.ts';
import { commonNames } from './common-names.ts';
import { knownExports } from './known-exports.ts';

const otherNames = listed('title, job title, phone, mobile phone, phone number, city, country, state, owner');

const otherKeys: ReadonlySet<string> = new Set(otherNames.map(headerKey));

let fieldsByKey: ReadonlyMap<string, readonly string[]> | undefined;

/** Computed once, when a name is looked up: the keys take ten milliseconds, and most commands read no export. */
function knownFields(): ReadonlyMap<string, readonly string[]> {
  if (fieldsByKey) return fieldsByKey;
  const found = new Map<string, string[]>();
  const named = [commonNames, ...knownExports.map(({ fields }) => fields)].flatMap((fields) =>
    Object.entries(fields),
  );
  for (const [field, names] of named)
    for (const key of new Set(names.map(headerKey))) found.set(key, [...(found.get(key) ?? []), field]);
  fieldsByKey = found;
  return found;
}

/**
 * Whether exports are known to have a column of this name, used or not.
 *
 * @param key of the name, by `headerKey`
 */
export function isKnownName(key: string): boolean {
  return otherKeys.has(key) || knownFields().has(key);
}

/** The fields of a contact that a column of this name can hold. @param key of the name, by `headerKey` */
export function fieldsNamed(key: string): readonly string[] {
  return knownFields().get(key) ?? [];
}
