/**
 * Words that a column name may have beside its keyword. Without `company`, `owner`, `assistant`, `fax`,
 * `type` and `do not call`, because such columns are not about the contact's own value.
 */
const qualifiers = new Set(
  (
    'a address business cell contact corporate current direct e home job json jsonb list mailing main mobile number ' +
    'numbers other person personal phone primary private region secondary value work'
  ).split(' '),
);

/**
 * Finds the columns whose name has one of the keywords and otherwise only qualifiers. For `phone`: `Person -
 * Phone - Work`, `phone_home`, `mobilePhone`, `telephone1`.
 *
 * @param header the names of the columns
 * @param words the keywords, lower case
 * @returns column numbers, from 1
 */
export function columnsNamed(header: readonly string[], words: readonly string[]): number[] {
  return header.flatMap((cell, index) => {
    const named = wordsOf(cell);
    const others = named.filter((word) => !words.includes(word));
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
