import { requireSource } from '../../people/contact-sources.ts';
import {
  findContactsWithoutPerson,
  previewDecision,
  readReview,
  recordDecision,
  type DecidedContact,
  type Review,
} from '../../people/decisions/reviews.ts';
import { Command, parseContactKey, toNote, type CommonFlags } from '../terminal/command.ts';
import { previewThenChange } from '../terminal/confirm.ts';
import { describeFields, formatRecords, printFacts, printProgress } from '../terminal/output.ts';

export function reviewCommand(): Command {
  return new Command('review')
    .description('Decide which known person a contact is, where the identity rule withholds data.')
    .addCommand(listCommand())
    .addCommand(decisionCommand('confirm'))
    .addCommand(decisionCommand('reject'))
    .addCommand(decisionCommand('withdraw')).examples(`
  enrich review list --source hubspot
  enrich review confirm hubspot 4711 p-83f1 --reason "ticket 17"
  enrich review reject hubspot 4711 p-83f1`).explain(`
A decision comes before all evidence, costs no credits, and holds until the record in the CRM gets another name or other
identifiers (docs/explanation/identity.md). The commands print only ids. To see a person:
  enrich sql -c "select * from enrichment.people where person_id = 'PERSON'"`);
}

function listCommand(): Command {
  return new Command('list')
    .description('List contacts without data that could be a known person; or show one with its decisions.')
    .option('--source <name>', 'only contacts of this source')
    .option('--contact <source/id>', 'all about this contact')
    .limit('maximum number of contacts and people', 50)
    .json()
    .examples(
      '\n  enrich review list --source hubspot --limit 10\n  enrich review list --contact hubspot/4711',
    )
    .onWarehouse(async ({ warehouse: { database } }, { json, source, contact, limit }: ListFlags) => {
      if (contact !== undefined) {
        const review = await readReview(database, parseContactKey(contact));
        return printFacts(json, review, describe(review));
      }
      if (source !== undefined) await requireSource(database, source);
      const withheld = await findContactsWithoutPerson(database, { source, limit });
      const none = 'no contact without data could be a known person';
      printFacts(
        json,
        withheld,
        formatRecords(withheld, ['source', 'contact_id', 'person_id', 'reason'], none),
      );
      if (withheld.length === limit) printProgress(`there may be more: --limit ${limit * 10} shows more`);
    });
}

interface ListFlags extends CommonFlags {
  readonly source?: string;
  readonly contact?: string;
  readonly limit: number;
}

/** Formats a contact, the people that it could be, and the decisions about it. */
function describe({ candidates, decisions: decided, ...contact }: Review): string {
  return [
    describeFields(contact),
    ...(candidates.length === 0 ? [] : ['could be', formatRecords(candidates)]),
    ...(decided.length === 0 ? [] : ['decided', formatRecords(decided)]),
  ].join('\n');
}

const decisions = {
  confirm: {
    verdict: 'confirmed',
    description: 'Decide that a contact is a known person, whose data it gets.',
  },
  reject: {
    verdict: 'rejected',
    description: 'Decide that a contact is not a known person. It loses the data of the person.',
  },
  withdraw: {
    verdict: 'withdrawn',
    description: 'Withdraw a decision: the evidence decides again.',
  },
} as const;

function decisionCommand(name: keyof typeof decisions): Command {
  const { verdict, description } = decisions[name];
  return new Command(name)
    .description(description)
    .argument('<source>', 'source of the contact, as list shows it')
    .argument('<contact>', 'record id of the contact')
    .argument('<person>', 'id of the person at the service')
    .option('--yes', 'record the decision without asking')
    .keepNote('kept with the decision; no names')
    .json()
    .examples(`\n  enrich review ${name} hubspot 4711 p-83f1 --yes`)
    .onWarehouse(
      async ({ warehouse }, source: string, contactId: string, personId: string, options: CommonFlags) => {
        const decision = { source, contactId, personId, verdict };
        const show = ({ personBefore, personNow, isNew }: DecidedContact, recorded: boolean): void => {
          if (!isNew) printProgress('this was decided before');
          printFacts(options.json, {
            recorded,
            source,
            contact_id: contactId,
            person_id: personId,
            verdict,
            person_before: personBefore,
            person_now: personNow,
          });
        };
        await previewThenChange(options, {
          measure: () => previewDecision(warehouse, decision, toNote(options)),
          change: () => recordDecision(warehouse, decision, toNote(options)),
          show,
          question: 'record the decision?',
          unchanged: 'nothing was recorded',
        });
      },
    );
}
