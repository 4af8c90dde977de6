import { Command, wholeNumber } from '../../terminal/command.ts';
import { minuteOf } from '../../../domain/text/minute-of.ts';
import type { OutputOf } from '../../../outputs/outputs.ts';
import { readChanges, type FeedEntry } from '../../../people/change-feed.ts';
import { print, table, writeBytes } from '../../terminal/output.ts';
import { withWarehouse } from '../../session/session.ts';
import { settingsOfExisting, withSettings } from '../../session/settings-flags.ts';

interface ChangesFlags {
  readonly since?: string;
  readonly limit?: number;
  readonly json?: boolean;
}

export function changesCommand(): Command {
  return withSettings(new Command('changes'))
    .description('Print contacts that changed or were deleted, in order.')
    .option('--since <cursor>', 'cursor of the last change that was read (default: from the first change)')
    .option('--limit <n>', 'maximum number of changes (default: all)', wholeNumber(1))
    .option('--json', 'one JSON object per line')
    .explain(`
Each line of --json has cursor, operation (upsert or delete), source, contact_id, groups (changed fields, named after
their first column) and changed_at. Continue with the cursor of the last line. Changes of open transactions follow
later, in order: no change is skipped. If RETENTION has removed changes after the cursor, or the first changes, the
command fails: write all contacts with enrich export --output FILE --json, and continue with the cursor that it prints.

Examples:
  enrich changes --json --limit 1000
  enrich changes --json --since CURSOR`)
    .action(async (options: ChangesFlags) => {
      await withWarehouse(settingsOfExisting(options), async ({ warehouse }) => {
        const changes = readChanges(warehouse.database, { since: options.since, limit: options.limit });
        if (options.json === true) {
          return writeBytes(asJson(changes));
        }
        const rows = [['cursor', 'operation', 'source', 'contact_id', 'groups', 'changed at (UTC)']];
        for await (const { cursor, operation, source, contact_id, groups, changed_at } of changes)
          rows.push([cursor, operation, source, contact_id, groups.join(' '), minuteOf(changed_at)]);
        print(rows.length === 1 ? 'no changes' : table(rows));
      });
    });
}

async function* asJson(changes: AsyncIterable<FeedEntry>): AsyncIterable<Uint8Array> {
  for await (const change of changes)
    yield Buffer.from(`${JSON.stringify(change satisfies OutputOf<'change'>)}\n`);
}
