import {
  Command,
  wholeNumber,
  jsonOption,
  type JsonFlag,
  noteOf,
  type NoteFlags,
} from '../../terminal/command.ts';
import { minuteOf } from '../../../domain/text/minute-of.ts';
import { counted, nounFor } from '../../../domain/text/counted.ts';
import { exitCodes } from '../../../domain/problem.ts';
import {
  areSuppressed,
  countSuppressions,
  listSuppressions,
  suppress,
  suppressStaged,
  unsuppress,
} from '../../../suppression/suppression-list.ts';
import { print, printFacts, printJson, table, tell } from '../../terminal/output.ts';
import { subjectOf, waysToNamePerson } from '../../terminal/person-argument.ts';
import { withStagedExport } from '../../run/plan-export.ts';
import type { CommandFlags } from '../../run-options/command-flags.ts';
import { addressOf, specifyRun } from '../../run/run-spec.ts';
import { withWarehouse } from '../../session/session.ts';
import { settingsOfExisting, settingsOf, withSettings } from '../../session/settings-flags.ts';

export function suppressCommand(): Command {
  return new Command('suppress')
    .description('Manage the suppression list: people on it are never asked for, paid for or written.')
    .addCommand(addCommand())
    .addCommand(importCommand())
    .addCommand(removeCommand())
    .addCommand(checkCommand())
    .addCommand(listCommand()).explain(`
The list stores hashes of identifiers, and domains as text. Rows of listed people become "suppressed".
Runs keep no data from these rows. enrich erase removes data that the warehouse has already (docs/privacy.md).

Examples:
  enrich suppress add ada@orbit.example --reason "ticket 17"
  enrich suppress import opt-outs.csv
  enrich suppress check ada@orbit.example`);
}

function addCommand(): Command {
  return withNote(withSettings(new Command('add')))
    .description('Add people to the list.')
    .argument('<who...>', 'people, or @acme.example for a domain and its subdomains')
    .explain(`
${waysToNamePerson}
@eu.acme.example lists all of acme.example.
Runs leave out every row that shares an identifier with a listed person, directly or by way of other rows.
Add every identifier that you know.

Examples:
  enrich suppress add ada@orbit.example https://www.linkedin.com/in/ada-novak
  enrich suppress add @acme.example --reason "customer, not to be enriched"`)
    .action(async (who: string[], options: NoteFlags & JsonFlag) => {
      const keys = keysOf(who);
      const added = await withWarehouse(settingsOf(options), ({ warehouse: { database } }) =>
        database.transaction().execute((transaction) => suppress(transaction, keys, noteOf(options))),
      );
      const present = keys.length - added;
      printFacts(options.json, { added, present }, `${added} added to the list, ${present} on it already`);
    });
}

function importCommand(): Command {
  return withNote(withSettings(new Command('import')))
    .description('Add all people of an export to the list.')
    .argument('<file>', 'a file with a header, or s3://… or https://…, as for enrich run')
    .option('--source <name>', 'as for enrich run')
    .option('--mapping <file>', 'as for enrich run')
    .explain(`
Exit code 3: a row has no identifier, so its person is not on the list.

Example:
  enrich suppress import opt-outs.csv --reason "newsletter"`)
    .action(async (file: string, options: CommandFlags & NoteFlags & JsonFlag) => {
      const config = settingsOf(options);
      const spec = await specifyRun(addressOf(file, options), options, config);
      const { added, namelessRows, firstNameless } = await withWarehouse(config, (session) =>
        withStagedExport(session, spec, (runId) => suppressStaged(session.warehouse, runId, noteOf(options))),
      );
      printFacts(
        options.json,
        { added, nameless_rows: namelessRows },
        `${added} added to the list: addresses, profiles and ids of the people in the file`,
      );
      if (namelessRows === 0) return;
      const [have, people] = namelessRows === 1 ? ['has', 'its person is'] : ['have', 'their people are'];
      const more = namelessRows > firstNameless.length ? ' …' : '';
      tell(
        `${counted(namelessRows, 'row')} ${have} no identifier, and ${people} not on the list: ` +
          `${nounFor(namelessRows, 'row')} ${firstNameless.join(', ')}${more}; correct the file, and import it again`,
      );
      process.exitCode = exitCodes.needsPerson;
    });
}

function removeCommand(): Command {
  return withSettings(new Command('remove'))
    .description('Remove people from the list; runs may ask for them again.')
    .argument('<who...>', 'people or @domain, named as when they were added')
    .option(...jsonOption)
    .explain(`\n${waysToNamePerson}\n\nExample:\n  enrich suppress remove ada@orbit.example`)
    .action(async (who: string[], options: JsonFlag) => {
      const keys = keysOf(who);
      const removed = await withWarehouse(settingsOfExisting(options), ({ warehouse }) =>
        unsuppress(warehouse, keys),
      );
      const absent = keys.length - removed;
      printFacts(options.json, { removed, absent }, `${removed} removed from the list, ${absent} not on it`);
    });
}

function checkCommand(): Command {
  return withSettings(new Command('check'))
    .description('Check whether people are on the list. Exit code 0: none is, 3: at least one is.')
    .argument('<who...>', 'people or @domain')
    .option(...jsonOption)
    .explain(`\n${waysToNamePerson}\n\nExample:\n  enrich suppress check ada@orbit.example`)
    .action(async (who: string[], options: JsonFlag) => {
      const keys = who.map(keyOf);
      const listed = await withWarehouse(settingsOfExisting(options), ({ warehouse: { database } }) =>
        areSuppressed(database, keys),
      );
      printFacts(
        options.json,
        { listed },
        table(who.map((text, index) => [text, listed[index] ? 'on the list' : 'not on the list'])),
      );
      if (listed.includes(true)) process.exitCode = exitCodes.needsPerson;
    });
}

function listCommand(): Command {
  return withSettings(new Command('list'))
    .description('Show the newest entries of the list, without names.')
    .option('--limit <n>', 'maximum number of entries', wholeNumber(1), 50)
    .option(...jsonOption)
    .explain('\nExample:\n  enrich suppress list')
    .action(async (options: { limit: number; json?: boolean }) => {
      const { entries, counts } = await withWarehouse(settingsOfExisting(options), async ({ warehouse }) => ({
        entries: await listSuppressions(warehouse, options.limit),
        counts: await countSuppressions(warehouse),
      }));
      if (options.json === true) return printJson({ counts, entries });
      if (entries.length === 0) return print('the list is empty');
      print(
        table([
          ['entry', 'kind', 'domain', 'added (UTC)', 'by', 'why'],
          ...entries.map((entry) => [
            entry.entry,
            entry.kind,
            entry.domain ?? '',
            minuteOf(entry.added_at),
            entry.added_by,
            entry.reason ?? '',
          ]),
        ]),
      );
      tell(
        Object.entries(counts)
          .map(([kind, count]) => `${kind} ${count}`)
          .join(', '),
      );
    });
}

function withNote(command: Command): Command {
  return command.keepNote('kept with the entry; no names').option(...jsonOption);
}

function keysOf(who: readonly string[]): string[] {
  return [...new Set(who.map(keyOf))];
}

function keyOf(text: string, index: number): string {
  return subjectOf(text, index + 1).key;
}
