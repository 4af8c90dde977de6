import content from './nicknames.json' with { type: 'json' };

/**
 * First names that one person can have: each list is a name with its short forms and other spellings. A name can be in
 * several lists: Alex is Alexander or Alexandra, who are different names.
 */
const groups = content.map((names) => new Set(names));

/**
 * Whether two first names can be the same person's. This keeps an agreeing address valid, but is no evidence alone,
 * because different people also have such names.
 *
 * @param one in comparison form, as `other`
 */
export function areFormsOfOneName(one: string, other: string): boolean {
  return groups.some((group) => group.has(one) && group.has(other));
}
