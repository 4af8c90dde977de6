import { headerKey } from './header-name.ts';
import { commonNames, knownExports } from './known-exports.ts';

const otherNames = [
  'title',
  'job title',
  'phone',
  'mobile phone',
  'phone number',
  'city',
  'country',
  'state',
  'owner',
];

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
