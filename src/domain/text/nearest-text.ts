import { distance } from 'fastest-levenshtein';

/** Longer texts are compared by their beginning: a header of a thousand characters is no typing mistake. */
const comparedLength = 100;

/**
 * The candidate with the smallest edit distance, if that is small: for suggestions such as `did you mean "email"?`.
 *
 * @param keyOf the form in which a candidate is compared with the text
 */
export function nearestText(
  text: string,
  candidates: readonly string[],
  keyOf: (candidate: string) => string = (candidate) => candidate,
): string | undefined {
  let nearest: string | undefined;
  let least = Math.max(2, text.length / 3) + 1;
  for (const candidate of candidates) {
    const changes = distance(text.slice(0, comparedLength), keyOf(candidate).slice(0, comparedLength));
    if (changes < least) [nearest, least] = [candidate, changes];
  }
  return nearest;
}
