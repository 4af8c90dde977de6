import type { Warehouse } from '../../db/database.ts';
import { parseSuppressionSubject } from '../../domain/identity/suppression.ts';
import { isFreeMailText, isSharedMailbox } from '../../domain/identity/values/email-address.ts';
import { exitCodes, UsageProblem } from '../../domain/problem.ts';
import { formatCount } from '../../domain/text/format.ts';
import { erase, measureErasure, type ErasureFigures } from '../../privacy/erase.ts';
import { findNamesakes, keysOfRecord } from '../../privacy/person-traces.ts';
import {
  countSuppressions,
  findSuppressions,
  listSuppressions,
  addSuppressions,
  suppressStagedPeople,
  removeSuppressions,
} from '../../suppression/suppression-list.ts';
import type { CommandFlags } from '../run/run-option-flags.ts';
import { withStagedExport } from '../run/plan-export.ts';
import { exportAddressOf, specifyRun } from '../run/run-spec.ts';
import { withWarehouse, readSettings, readSettingsOfExistingWarehouse } from '../session/session.ts';
import { Command, parseContactKey, toNote, type CommonFlags } from '../terminal/command.ts';
import { confirmUnlessYes, previewThenChange } from '../terminal/confirm.ts';
import { formatRecords, printFacts, printProgress } from '../terminal/output.ts';

const waysToNamePerson =
  "WHO is an email address, the URL of a profile, person:ID with the service's id, or an MD5 or SHA-256 of an email.";

export function suppressCommand(): Command {
  return new Command('suppress')
    .description('Manage the suppression list: people on it are never asked for, paid for or written.')
    .addCommand(addCommand())
    .addCommand(importCommand())
    .addCommand(removeCommand())
    .addCommand(listCommand()).examples(`
  enrich suppress add ada@orbit.example --reason "ticket 17"
  enrich suppress import opt-outs.csv
  enrich suppress list ada@orbit.example`).explain(`
The list stores hashes of identifiers, and domains as text. Rows of listed people become "suppressed".
Runs keep no data from these rows. enrich erase removes data that the warehouse has already (docs/guides/privacy.md).`);
}

function addCommand(): Command {
  return new Command('add')
    .description('Add people to the list.')
    .argument('<who...>', 'people, or @acme.example for a domain and its subdomains')
    .keepNote('kept with the entry; no names')
    .json()
    .examples(`
  enrich suppress add ada@orbit.example https://www.linkedin.com/in/ada-novak
  enrich suppress add @acme.example --reason "customer, not to be enriched"`)
    .explain(`
${waysToNamePerson}
@eu.acme.example lists all of acme.example. Runs leave out every row that shares an identifier with a listed person.`)
    .action(async (who: string[], options: CommonFlags) => {
      const keys = keysOf(who);
      const added = await withWarehouse(readSettings(), ({ warehouse: { database } }) =>
        database.transaction().execute((transaction) => addSuppressions(transaction, keys, toNote(options))),
      );
      printFacts(options.json, { added, present: keys.length - added });
    });
}

function importCommand(): Command {
  return new Command('import')
    .description('Add all people of an export to the list.')
    .argument('<file>', 'a file with a header, or s3://… or https://…, as for enrich run')
    .option('--source <name>', 'as for enrich run')
    .option('--mapping <file>', 'as for enrich run')
    .keepNote('kept with the entries; no names')
    .json()
    .examples(`
  enrich suppress import opt-outs.csv --reason "newsletter"`)
    .explain(`
Exit code 3: "nameless rows" have no identifier, so the list lacks their people. Correct the file, and repeat.`)
    .action(async (file: string, options: CommandFlags & CommonFlags) => {
      const config = readSettings();
      const spec = await specifyRun(exportAddressOf(file, options), options, config);
      const { added, namelessRows, firstNameless } = await withWarehouse(config, (session) =>
        withStagedExport(session, spec, (runId) =>
          suppressStagedPeople(session.warehouse, runId, toNote(options)),
        ),
      );
      printFacts(options.json, { added, nameless_rows: namelessRows, first_nameless_rows: firstNameless });
      if (namelessRows > 0) process.exitCode = exitCodes.needsOperator;
    });
}

function removeCommand(): Command {
  return new Command('remove')
    .description('Remove people from the list; runs may ask for them again.')
    .argument('<who...>', 'people or @domain, named as when they were added')
    .option('--yes', 'remove without asking')
    .json()
    .examples(`\n  enrich suppress remove ada@orbit.example`)
    .explain(`\n${waysToNamePerson}`)
    .action(async (who: string[], options: CommonFlags) => {
      const keys = keysOf(who);
      const question = `let runs ask for ${formatCount(keys.length, 'listed person', 'listed people')} again?`;
      const isRemoved = await confirmUnlessYes(question, options, 'nothing was removed');
      const removed = isRemoved
        ? await withWarehouse(readSettingsOfExistingWarehouse(), ({ warehouse }) =>
            removeSuppressions(warehouse, keys),
          )
        : 0;
      printFacts(options.json, { removed, absent: isRemoved ? keys.length - removed : 0 });
    });
}

function listCommand(): Command {
  return new Command('list')
    .description('Show the newest entries of the list without names, or whether people are on it.')
    .argument('[who...]', 'people or @domain: their entries; exit code 3: at least one is on the list')
    .limit('maximum number of entries', 50)
    .json()
    .examples(`\n  enrich suppress list\n  enrich suppress list ada@orbit.example`)
    .explain(`\n${waysToNamePerson}`)
    .onWarehouse(
      async ({ warehouse }, who: string[], { json, limit }: CommonFlags & { readonly limit: number }) => {
        const found = await findSuppressions(warehouse.database, who.map(suppressionKeyOf));
        const listed = found.map(({ length }) => length > 0);
        const entries = who.length > 0 ? found.flat() : await listSuppressions(warehouse, limit);
        const counts = await countSuppressions(warehouse);
        if (listed.includes(true)) process.exitCode = exitCodes.needsOperator;
        const answers = who.map((text, at) => `${text}: ${listed[at] ? 'on the list' : 'not on the list'}`);
        const lines = [
          ...answers,
          formatRecords(entries, undefined, 'no entries'),
          `entries: ${JSON.stringify(counts)}`,
        ];
        printFacts(json, { counts, listed, entries }, lines.join('\n'));
      },
    );
}

/** Returns the suppression keys of the arguments, each once. */
function keysOf(who: readonly string[]): string[] {
  return [...new Set(who.map(suppressionKeyOf))];
}

/** Returns the suppression key of a person or domain in an argument. Errors leave out the text: it is personal data. */
export function suppressionKeyOf(text: string, index: number): string {
  const subject = parseSuppressionSubject(text);
  if (subject) return subject.key;
  const [what, next] = isFreeMailText(text)
    ? ['a free-mail provider cannot be suppressed as a domain', 'write the email address of each person']
    : [
        'this identifies no person',
        'write an email address, the URL of a profile, person:ID, a hashed email, or @domain',
      ];
  throw new UsageProblem('person.unclear', what, { where: `argument ${index + 1}`, next });
}

export function eraseCommand(): Command {
  return new Command('erase')
    .description('Remove a person from the warehouse, and never ask for them again.')
    .argument('[who]', 'one person, named in one of the forms below')
    .option('--contact <source/id>', 'CRM record of the person in place of WHO, such as hubspot/4711')
    .option('--yes', 'erase without asking')
    .keepNote('kept; no names')
    .json()
    .examples(`
  enrich erase ada@orbit.example --reason "ticket 17"
  enrich erase --contact hubspot/4711 --yes`)
    .explain(`
${waysToNamePerson}
Rows and contacts that share an identifier are one person. Their data is removed, also bytes of answers and deliveries;
numbers of rows, outcomes, calls and credits stay. The suppression list gets hashes of the identifiers, so that nothing
restores the data. Exports that you keep, the CRM, and backups are not changed (docs/guides/privacy.md). "same name":
people of this name in answers to the same calls, who stay; if one is the same human: enrich erase person:ID.`)
    .onWarehouse(
      async ({ warehouse }, who: string | undefined, options: CommonFlags & { contact?: string }) => {
        const { contact } = options;
        if ((who === undefined) === (contact === undefined))
          throw unclear('the command needs exactly one person', 'enrich erase');
        const keys = who === undefined ? await keysOfContact(warehouse, contact!) : [keyOfPerson(who)];
        const sameName = await findNamesakes(warehouse, keys);
        const show = (figures: ErasureFigures, erased: boolean): void => {
          const found = Object.values(figures).some((figure) => figure > 0);
          if (!found) printProgress('the warehouse has nothing of this person; check the spelling');
          printFacts<'erase'>(options.json, { erased, found, ...figures, same_name: sameName });
          if (erased) printProgress('the person is on the suppression list: no run asks for them');
        };
        await previewThenChange(options, {
          measure: () => measureErasure(warehouse, keys),
          change: () => erase(warehouse, keys, toNote(options)),
          show,
          question: 'erase this person, and put them on the suppression list?',
          unchanged: 'nothing was removed',
        });
      },
    );
}

const waysToNameOne = 'name one person by an email, a profile, person:ID, or --contact hubspot/4711';

/** Makes the error for an argument that does not name exactly one person. */
function unclear(what: string, where: string, type = 'person.unclear'): UsageProblem {
  return new UsageProblem(type, what, { where, next: waysToNameOne });
}

/** Returns the suppression key of one person. @throws UsageProblem for a domain or a shared mailbox */
function keyOfPerson(who: string): string {
  // A text that cannot be read is refused like a domain: neither names one person.
  const { kind, key } = parseSuppressionSubject(who) ?? { kind: 'domain', key: '' };
  if (kind === 'domain') throw unclear('this does not identify one person', 'argument 1');
  if (kind === 'email' && isSharedMailbox(key.slice('email:'.length)))
    throw unclear('several people may read this email', 'argument 1');
  return key;
}

/** Returns the suppression keys of a CRM record such as `hubspot/4711`. @throws UsageProblem */
async function keysOfContact(warehouse: Warehouse, contact: string): Promise<string[]> {
  const keys = await keysOfRecord(warehouse.database, parseContactKey(contact));
  if (keys === undefined) throw unclear('this record has been about more than one person', '--contact');
  if (keys.length > 0) return keys;
  throw unclear('the warehouse does not know this record', '--contact', 'contact.unknown');
}
