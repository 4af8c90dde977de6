import { UsageProblem } from '../../domain/problem.ts';
import { namesPerson } from '../../domain/text/names-person.ts';

/**
 * Returns a text unchanged that the warehouse keeps or Temporal shows.
 *
 * @param what the text, as the error names it
 * @throws Problem `setting.invalid` if the text names a person
 */
export function withoutPerson(
  text: string,
  { what, where, next }: { readonly what: string; readonly where: string; readonly next: string },
): string {
  if (!namesPerson(text)) return text;
  throw new UsageProblem('setting.invalid', `${what} seems to name a person`, { where, next });
}
