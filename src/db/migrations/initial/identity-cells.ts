import { identityColumns } from '../../../domain/identity/identity.ts';

/** The columns of a table with the identifying cells of contacts. */
export const identityCellColumns = identityColumns
  .map((name) => `${name} ${name === 'other_emails' ? 'text[]' : 'text'}`)
  .join(',\n    ');
