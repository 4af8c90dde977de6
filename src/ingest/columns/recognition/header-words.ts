import { comparisonForm } from '../../../domain/identity/values/normalise.ts';
import { headerName } from '../../../domain/text/header-name.ts';

/** Forms use whole sentences of consent as names; what a column is about is said before this. */
const longestSentence = 1_000;

/** The words of a column's name in the comparison form, with a space before and behind each: ` do not call `. */
export function headerWords(header: string): string {
  const words = headerName(header)
    .slice(0, longestSentence)
    .replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ');
  return ` ${comparisonForm(words).normalize('NFC')} `;
}
