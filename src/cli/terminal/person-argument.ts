import { UsageProblem } from '../../domain/problem.ts';
import { namesFreeMail } from '../../domain/identity/values/domain-name.ts';
import { parseSuppressionSubject, type SuppressionSubject } from '../../domain/identity/suppression.ts';

/** Help text: how to identify a person on the command line. */
export const waysToNamePerson =
  "WHO is an email address, the URL of a profile, person:ID with the service's id, or an MD5 or SHA-256 of an address.";

/**
 * Parses an argument that identifies a person or a domain.
 *
 * @param forms the forms that the command takes
 * @throws Problem `person.unclear`, without the text of the argument, which is personal data
 */
export function subjectOf(
  text: string,
  place: number,
  forms = 'an email address, the URL of a profile, person:ID, a hashed address, or @domain',
): SuppressionSubject {
  const subject = parseSuppressionSubject(text);
  if (subject) return subject;
  if (namesFreeMail(text)) {
    throw new UsageProblem('person.unclear', 'a free-mail provider cannot be suppressed as a domain', {
      where: `argument ${place}`,
      next: 'write the address of each person instead',
    });
  }
  throw new UsageProblem('person.unclear', 'this identifies no person', {
    where: `argument ${place}`,
    next: `write ${forms}`,
  });
}
