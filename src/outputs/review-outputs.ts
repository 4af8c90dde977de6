import { z } from 'zod';
import { recordedVerdicts } from '../domain/identity/verdicts.ts';
import type {
  WithheldContact,
  WithheldPerson,
  MadeDecision,
  Review,
} from '../people/decisions/find-withheld.ts';
import { count, time, type Fields } from './fields.ts';

const source = z.string().describe('Source of the contact.');
const contactId = z.string().describe('Record id of the CRM.');
const verdict = z
  .enum(recordedVerdicts)
  .describe(
    'confirmed: the contact is the person. rejected: it is not. withdrawn: no decision holds any longer.',
  );

const withheldFields = {
  person_id: z.string().describe('Id of a known person who could be the contact, at the service.'),
  reason: z.string().describe('Why the contact does not get the data of the person.'),
} satisfies Fields<WithheldPerson>;

export const reviewList = z
  .array(
    z.strictObject({
      source,
      contact_id: contactId,
      ...withheldFields,
      run_id: z.string().describe('Run of the newest row of the contact.'),
      row_number: count.describe('Record of the file of this run, from 1, header excluded.'),
    } satisfies Fields<WithheldContact>),
  )
  .describe('Contacts without a person, each with a known person whose data it does not get.');

const madeFields = {
  person_id: z.string().describe('Id of the person at the service.'),
  verdict,
  holds: z
    .boolean()
    .describe('Whether the decision counts: no later one, and the record has the same identifiers and name.'),
  reason: z.string().nullable().describe('Why. Null: no reason was given.'),
  decided_by: z.string().describe('Who decided.'),
  decided_at: time.describe('When.'),
} satisfies Fields<MadeDecision>;

export const review = z
  .strictObject({
    source,
    contact_id: contactId,
    person_id: z.string().nullable().describe('Id of the person whom the contact has. Null: none.'),
    evidence: z
      .string()
      .nullable()
      .describe('Evidence for this person; "confirmed" is a decision. Null: the contact has no person.'),
    candidates: z
      .array(z.strictObject(withheldFields))
      .describe(
        'Known people whose data the contact does not get, without people about whom a decision holds.',
      ),
    decisions: z
      .array(z.strictObject(madeFields))
      .describe('All decisions about the contact, the newest first.'),
  } satisfies Fields<Review>)
  .describe('A contact, known people who could be the contact, and decisions. Only ids, no personal data.');

export const reviewDecision = z
  .strictObject({
    recorded: z
      .boolean()
      .describe(
        'True: the decision holds. False: nothing changed, without --yes; the other fields say what would.',
      ),
    source,
    contact_id: contactId,
    person_id: z.string().describe('Id of the person at the service.'),
    verdict,
    person_before: z.string().nullable().describe('Id of the person whom the contact had. Null: none.'),
    person_now: z.string().nullable().describe('Id of the person whom the contact has now. Null: none.'),
    open_run: z
      .string()
      .nullable()
      .describe(
        'Unfinished run that has the contact, and applies the decision when it ends. Null: it is applied.',
      ),
  })
  .describe('A decision about a contact and a person.');
