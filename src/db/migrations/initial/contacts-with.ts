/**
 * Query of contacts by an index. As a part of a join, or without `offset 0`, PostgreSQL compared each contact with each
 * other contact.
 *
 * @param condition in SQL
 */
export const contactsWith = (condition: string): string =>
  `select service, person_key from enrichment.contacts where ${condition} offset 0`;
