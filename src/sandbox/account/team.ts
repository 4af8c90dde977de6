/** A user of the workspace. Times are ISO 8601. */
export interface TeamUser {
  readonly id: string;
  readonly first_name: string;
  readonly last_name: string;
  readonly email: string;
  readonly created_at: string;
  readonly is_admin: boolean;
  readonly deleted: boolean;
}

function user(
  id: string,
  name: readonly [string, string],
  created_at: string,
  flags: { readonly is_admin: boolean; readonly deleted: boolean },
): TeamUser {
  const [first_name, last_name] = name;
  const email = `${first_name}.${last_name}@sandbox.example`.toLowerCase();
  return { id: `5b000000000000000000${id}`, first_name, last_name, email, created_at, ...flags };
}

/**
 * The team of the sandbox. Neither the first user, nor the first admin, nor the newest user is the acting
 * one, so that clients cannot find the acting user by chance.
 */
export const sandboxTeam: readonly TeamUser[] = [
  user('00a3', ['Vera', 'Later'], '2023-05-02T08:00:00.000Z', { is_admin: true, deleted: false }),
  user('00a0', ['Otto', 'Gone'], '2019-01-07T08:00:00.000Z', { is_admin: true, deleted: true }),
  user('00b0', ['Mina', 'Member'], '2019-03-11T08:00:00.000Z', { is_admin: false, deleted: false }),
  user('00a1', ['Sandbox', 'Admin'], '2020-09-21T08:00:00.000Z', { is_admin: true, deleted: false }),
  user('00b1', ['Greta', 'Granting'], '2022-02-14T08:00:00.000Z', { is_admin: false, deleted: false }),
];

/** The user who grants access tokens by default. */
export const grantingUserId = '5b00000000000000000000b1';

/**
 * The interface document, Authentication, rule 4: keys act as the earliest-created user who is not deleted
 * and is an admin.
 */
export function actingAdmin(team: readonly TeamUser[]): TeamUser | undefined {
  return team
    .filter((each) => each.is_admin && !each.deleted)
    .toSorted((one, other) => Date.parse(one.created_at) - Date.parse(other.created_at))[0];
}
