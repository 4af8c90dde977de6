import { Command, jsonOption, noteOf, type NoteFlags } from '../../terminal/command.ts';
import { isRoleAddress } from '../../../domain/identity/values/email-address.ts';
import { UsageProblem } from '../../../domain/problem.ts';
import { erase, measureErasure, type ErasureFigures } from '../../../privacy/erase.ts';
import { findNamesakes, keysOfRecord } from '../../../privacy/person-traces.ts';
import type { Warehouse } from '../../../db/database.ts';
import { counted, nounFor } from '../../../domain/text/counted.ts';
import { approves } from '../../terminal/confirm.ts';
import { print, printJson, table, tell } from '../../terminal/output.ts';
import { subjectOf, waysToNamePerson } from '../../terminal/person-argument.ts';
import { withWarehouse } from '../../session/session.ts';
import { settingsOfExisting, withSettings } from '../../session/settings-flags.ts';

interface EraseFlags extends NoteFlags {
  readonly contact?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export function eraseCommand(): Command {
  return withSettings(new Command('erase'))
    .description('Remove a person from the warehouse, and never ask for them again.')
    .argument('[who]', 'one person, named in one of the forms below')
    .option('--contact <source/id>', 'CRM record of the person in place of WHO, such as hubspot/4711')
    .keepNote('kept; no names')
    .option('--yes', 'erase without asking')
    .option(...jsonOption)
    .explain(`
${waysToNamePerson}
The person is found by every identifier in the warehouse: rows and contacts that share one are one person.
So are rows of one CRM record with the same name, also with another address.
Contacts, phones, data in rows of exports, bodies of answers and deliveries, and the lookup history are removed.
Numbers of rows, outcomes, calls and credits stay. The suppression list gets hashes of the identifiers, so that no
export and no late delivery restores the data. A call in flight is paid for, and its answer is dropped.
An identifier that the warehouse does not have goes on the list as well: the command says so and exits with 0.
Exports that you keep, the CRM, and backups are not changed (docs/privacy.md).

Examples:
  enrich erase ada@orbit.example --reason "ticket 17"
  enrich erase --contact hubspot/4711 --yes`)
    .action(async (who: string | undefined, options: EraseFlags) => {
      const find = personOf(who, options.contact);
      await withWarehouse(settingsOfExisting(options), async ({ warehouse }) => {
        const keys = await find(warehouse);
        const sameName = await findNamesakes(warehouse, keys);
        if (options.yes !== true) {
          const found = await measureErasure(warehouse, keys);
          if (options.json === true)
            printJson<'erase'>({ erased: false, found: isAnything(found), ...found, same_name: sameName });
          else {
            print(isAnything(found) ? describe(found, 'found') : 'the warehouse has nothing of this person');
            sayWhoStays(sameName);
          }
          const question = isAnything(found)
            ? 'erase this person?'
            : 'put the person on the suppression list?';
          const texts = { unchanged: 'nothing was removed', yes: 'erases' };
          if (!(await approves(question, options, texts))) return;
        }
        const removed = await erase(warehouse, keys, noteOf(options));
        const found = isAnything(removed);
        if (options.json === true)
          return printJson<'erase'>({ erased: true, found, ...removed, same_name: sameName });
        print(
          found
            ? describe(removed, 'removed')
            : 'nothing was removed: the warehouse has nothing of this person; check the spelling',
        );
        tell(
          'the person is on the suppression list: no run asks for them (enrich suppress remove takes them off); ' +
            'exports that you keep, the CRM and backups are not changed',
        );
        sayWhoStays(sameName);
      });
    });
}

/** @throws Problem if the arguments name no person or several people */
function personOf(
  who: string | undefined,
  contact: string | undefined,
): (warehouse: Warehouse) => Promise<string[]> {
  if ((who === undefined) === (contact === undefined)) {
    throw new UsageProblem('person.unclear', 'the command needs exactly one person', {
      where: 'enrich erase',
      next: 'name one person, or one record of the CRM with --contact',
    });
  }
  if (contact !== undefined) {
    const [, source, contactId] = /^([^/]+)\/(.+)$/.exec(contact) ?? [];
    if (source !== undefined && contactId !== undefined)
      return (warehouse) => keysOfContact(warehouse, { source, contactId });
    throw new UsageProblem('person.unclear', 'the record is not in the form SOURCE/ID', {
      where: '--contact',
      next: 'write the source, a slash and the id of the CRM, such as hubspot/4711',
    });
  }
  const { kind, key } = subjectOf(
    who!,
    1,
    'an email address, the URL of a profile, person:ID or a hashed address; ' +
      'or --contact hubspot/4711 for a record of the CRM',
  );
  if (kind === 'domain') {
    throw new UsageProblem('person.unclear', 'a domain is not one person', {
      where: 'argument 1',
      next: 'erase its people one by one; enrich suppress add @domain keeps all of them from being asked for',
    });
  }
  if (kind === 'email' && isRoleAddress(key.slice('email:'.length))) {
    throw new UsageProblem('person.unclear', 'several people may read this address', {
      where: 'argument 1',
      next: 'name the person by another address, a profile, person:ID, or --contact',
    });
  }
  return () => Promise.resolve([key]);
}

/** @throws Problem `person.unclear` for a record of several people; `contact.unknown` for an unknown record */
async function keysOfContact(
  warehouse: Warehouse,
  { source, contactId }: { source: string; contactId: string },
): Promise<string[]> {
  const keys = await keysOfRecord(warehouse.database, { source, contactId });
  if (keys === undefined)
    throw new UsageProblem('person.unclear', 'this record has been about more than one person', {
      where: '--contact',
      next: 'name the person by an address, a profile, or person:ID',
    });
  if (keys.length > 0) return keys;
  throw new UsageProblem('contact.unknown', 'the warehouse does not know this record', {
    where: '--contact',
    next: 'check the source and the id; or name the person by an address or a profile',
  });
}

/** The service may have answered with another record of the same human. */
function sayWhoStays(people: readonly string[]): void {
  if (people.length === 0) return;
  tell(
    `${counted(people.length, 'other person', 'other people')} of this name in answers to the same calls ` +
      `${nounFor(people.length, 'stays', 'stay')}: ${people.join(', ')}; ` +
      `if it is the same human: enrich erase ${people[0]!}`,
  );
}

function isAnything(figures: ErasureFigures): boolean {
  return Object.values(figures).some((figure) => figure > 0);
}

function describe(figures: ErasureFigures, heading: string): string {
  return table([
    ['what', heading],
    ['enriched contacts', figures.contacts],
    ['phones', figures.phones],
    ['observations', figures.observations],
    ['rows of exports', figures.rows],
    ['bodies of answers', figures.answers],
    ['bodies of deliveries', figures.deliveries],
    ['keys of the lookup history', figures.lookup_keys],
  ]);
}
