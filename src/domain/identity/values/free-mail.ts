import content from './free-mail.json' with { type: 'json' };

/**
 * Providers of addresses for everybody, including internet providers. Their domains identify no employer. The package
 * free-email-domains has more, but its installation downloads the list and fails without internet.
 */
const providers = new Set(content.providers);

/** Providers with the same name in many countries: `yahoo.co.uk`, `hotmail.fr`. */
const families = new RegExp(
  `^(?:${content.families.join('|')})\\.(?:com|net|(?:co|com|ne)\\.[a-z]{2}|[a-z]{2})$`,
);

/**
 * Whether a domain belongs to a provider of addresses for everybody, so that it identifies no employer.
 *
 * @param domain in lower case, as after the `@`
 */
export function isFreeMail(domain: string): boolean {
  return providers.has(domain) || families.test(domain);
}
