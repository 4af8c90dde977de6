import { Command, jsonOption } from '../../terminal/command.ts';
import { printFacts, table } from '../../terminal/output.ts';
import { settingsOf, withSettings } from '../../session/settings-flags.ts';
import { withService } from '../../session/with-service.ts';

export function whoamiCommand(): Command {
  return withSettings(new Command('whoami'))
    .description('Show which user of the service the credential acts as. Costs nothing.')
    .option(...jsonOption)
    .explain('\nExample:\n  enrich whoami --json')
    .action(async (options: { json?: boolean }) => {
      const config = settingsOf(options);
      await withService(config, async (client, service) => {
        const user = await client.profile();
        const facts = {
          user_id: user.id,
          name: user.name ?? null,
          service: service.baseUrl,
          sandbox: service.sandbox,
          // A key acts as the workspace's oldest active admin; a token acts as the user who granted it.
          credential: service.credential ?? null,
        };
        const rows = Object.entries(facts).map(([name, value]) => [
          name.replace('_', ' '),
          String(value ?? 'unknown'),
        ]);
        printFacts(options.json, facts, table(rows));
      });
    });
}
