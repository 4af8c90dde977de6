import type { Identity } from '../domain/identity/identity.ts';

/** One element of `details`, and the identifying query parameters of the single call: the same nine names. */
export interface Detail {
  readonly first_name?: string;
  readonly last_name?: string;
  readonly name?: string;
  readonly email?: string;
  readonly hashed_email?: string;
  readonly organization_name?: string;
  readonly domain?: string;
  readonly id?: string;
  readonly proflink_url?: string;
}

/**
 * What is sent about a person: all that the row knows, under the names of the wire, and no field that it does not know.
 */
export function toDetail(identity: Identity): Detail {
  return present({
    first_name: identity.firstName,
    last_name: identity.lastName,
    name: identity.name,
    email: identity.email,
    hashed_email: identity.hashedEmail,
    organization_name: identity.organizationName,
    domain: identity.domain,
    id: identity.personId,
    // Profile URLs are kept without their scheme, because they are compared; a URL on the wire has one.
    proflink_url: identity.profileUrl === undefined ? undefined : `https://${identity.profileUrl}`,
  });
}

function present(fields: { readonly [Name in keyof Detail]: string | undefined }): Detail {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''),
  );
}
