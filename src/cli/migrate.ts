import { Command } from 'commander';
import { acquireStack } from '../dev/stack.ts';
import { migrate } from '../warehouse/migrate.ts';
import { print, tell } from './output.ts';
import { settingsOf, withSettings } from './settings.ts';

/** `enrich migrate` */
export function migrateCommand(): Command {
  return withSettings(new Command('migrate'))
    .description('bring the warehouse tables up to this release (every command does so by itself)')
    .addHelpText('after', '\nExample:\n  DATABASE_URL=postgres://… enrich migrate')
    .action(async (options: Record<string, unknown>) => {
      const stack = await acquireStack(settingsOf(options), { postgres: true }, tell);
      try {
        const done = await migrate(stack.databaseUrl);
        print(done.length === 0 ? 'the warehouse is up to date' : `carried out: ${done.join(', ')}`);
      } finally {
        await stack.release();
      }
    });
}
