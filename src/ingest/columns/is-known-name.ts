import { headerKey } from '../../domain/text/header-name.ts';
import { listed } from '../../domain/text/listed.ts';
import { commonNames } from './common-names.ts';
import { knownExports } from './known-exports.ts';

const otherNames = listed('title, job title, phone, mobile phone, phone number, city, country, state, owner');

const knownKeys: ReadonlySet<string> = new Set(
  [commonNames, ...knownExports.map((known) => known.fields)]
    .flatMap((fields) => Object.values(fields).flat())
    .concat(otherNames)
    .map(headerKey),
);

/**
 * Whether exports are known to have a column of this name, used or not.
 *
 * @param key of the name, by `headerKey`
 */
export function isKnownName(key: string): boolean {
  return knownKeys.has(key);
}

/** The fields of a contact that a column of this name can hold. @param key of the name, by `headerKey` */
export function fieldsNamed(key: string): readonly string[] {
  return [commonNames, ...knownExports.map(({ fields }) => fields)].flatMap((fields) =>
    Object.entries(fields).flatMap(([field, names]) =>
      names.some((name) => headerKey(name) === key) ? [field] : [],
    ),
  );
}
