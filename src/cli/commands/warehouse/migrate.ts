import { Command, jsonOption, type JsonFlag } from '../../terminal/command.ts';
import { acquireStack } from '../../../dev/stack.ts';
import { allowAnalyst, migrate } from '../../../db/migrate.ts';
import { print, printFacts, tell } from '../../terminal/output.ts';
import { settingsOf, withSettings } from '../../session/settings-flags.ts';

export function migrateCommand(): Command {
  return withSettings(new Command('migrate'))
    .description('Bring the warehouse tables up to this release. Every command does so at its start.')
    .option('--analyst-role <role>', 'existing role that may read contacts, outcomes, calls and credits')
    .option(...jsonOption)
    .explain(`
Migrations only add, so they can run beside workers of this release and the previous one. They wait up to a minute for
users of the tables. An analyst role cannot read bodies, rows of exports and tokens, and cannot write; later
migrations update its rights.

Examples:
  DATABASE_URL=postgres://… enrich migrate
  DATABASE_URL=postgres://… enrich migrate --analyst-role metabase`)
    .action(async (options: { analystRole?: string } & JsonFlag) => {
      const stack = await acquireStack(settingsOf(options), { postgres: true }, tell);
      try {
        const { done, newer } = await migrate(stack.databaseUrl);
        if (newer.length > 0) tell(`the warehouse is of a newer release: ${newer.join(', ')}`);
        const role = options.analystRole;
        if (role !== undefined) await allowAnalyst(stack.databaseUrl, role);
        printFacts(
          options.json,
          { migrations: done, newer, analyst_role: role ?? null },
          done.length === 0 ? 'the warehouse is up to date' : `applied: ${done.join(', ')}`,
        );
        if (role !== undefined && options.json !== true) {
          print(`${role} may read what an analyst needs (docs/warehouse.md)`);
        }
      } finally {
        await stack.release();
      }
    });
}
