/**
 * Qualifiers that a column name may have beside its keyword: whose value it is, and how it is stored. Not `company`,
 * `owner`, `assistant`, `fax`, `type` or `do not call`: those are about somebody or something else.
 */
const qualifiers = new Set(
  (
    'a address business cell contact corporate current direct e home job json jsonb list mailing main mobile number ' +
    'numbers other person personal phone primary private region secondary value work'
  ).split(' '),
);

/**
 * Columns of a header whose name has one of the keywords, and otherwise only qualifiers: for `phone` these are
 * `Person - Phone - Work`, `phone_home`, `mobilePhone`, `telephone1`.
 *
 * @returns their numbers, from 1
 */
export function columnsNamed(header: readonly string[], words: readonly string[]): number[] {
  return header.flatMap((cell, index) => {
    const named = wordsOf(cell);
    const others = named.filter((word) => !words.includes(word));
    return others.length < named.length && others.every((word) => qualifiers.has(word)) ? [index + 1] : [];
  });
}

/** Numbers are left out: `telephone1` and `Address 1: City` are one of several. */
function wordsOf(name: string): string[] {
  return (
    name
      .normalize('NFKC')
      .replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ')
      .toLowerCase()
      .match(/\p{L}+/gu) ?? []
  );
}
