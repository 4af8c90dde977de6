import { sql } from 'kysely';
import { openWarehouse } from '../../db/database.ts';
import { allowAnalyst } from '../../db/migrate.ts';
import { UsageProblem } from '../../domain/problem.ts';
import { readStatement, recordsOfAnswer } from '../commands/sql.ts';
import type { Session } from '../session/session.ts';

/** Role that `analystAddress` creates in the embedded PostgreSQL. */
const embeddedRole = 'enrich_analyst';

/** Logs in as the analyst, because a statement could reset `SET ROLE`. @param most maximum number of rows */
export async function readAsAnalyst(session: Session, text: string, most: number) {
  const analyst = openWarehouse(await analystAddress(session), { connections: 1 });
  try {
    const { rows } = await analyst.pool.query<{ role: string }>('select current_user as role');
    await requireAnalyst(session, rows[0]!.role);
    return recordsOfAnswer(
      await readStatement(analyst.pool, text, { parses: true, most, where: 'statement' }),
    );
  } finally {
    await analyst.close();
  }
}

/** Returns a database URL with the analyst's login. The embedded PostgreSQL gets the role at the first use. */
async function analystAddress({ config, stack, warehouse: { database } }: Session): Promise<string> {
  if (config.analystDatabaseUrl !== undefined) return config.analystDatabaseUrl;
  if (!stack.embedded.postgres)
    throw new UsageProblem('setting.missing', 'no login of an analyst is set', {
      where: 'ANALYST_DATABASE_URL',
      next: 'create a role for analysts, and set the address with this role (docs/guides/agents.md)',
    });
  const address = new URL(stack.databaseUrl);
  const found = await sql`select from pg_roles where rolname = ${embeddedRole}`.execute(database);
  if (found.rows.length === 0) {
    const [role, password] = [sql.id(embeddedRole), sql.lit(address.password)];
    await sql`create role ${role} login password ${password}`.execute(database);
    await allowAnalyst(stack.databaseUrl, embeddedRole);
  }
  address.username = embeddedRole;
  return address.href;
}

/** Refuses roles without the rights of `enrich migrate --analyst-role`: owners and superusers read more. */
async function requireAnalyst({ warehouse }: Session, role: string): Promise<void> {
  const found = await sql`select from analyst_roles where role_name = ${role}`.execute(warehouse.database);
  if (found.rows.length > 0) return;
  throw new UsageProblem('role.no-analyst', `the role "${role}" has no rights of an analyst`, {
    where: 'ANALYST_DATABASE_URL',
    next: `give the role its rights: enrich migrate --analyst-role ${role}`,
  });
}
