import fc from 'fast-check';
import type { Person } from '../../../src/domain/identity/person.ts';
import type { DeliveredPhone } from '../../../src/domain/identity/values/phone.ts';
import { deliveryKindNames } from '../../../src/domain/late-results/delivery-kinds.ts';
import type { Observation } from '../../../src/people/fold.ts';
import { factsOfAnswer, factsOfLateResult, type ObservedFacts } from '../../../src/people/log/observation.ts';

/** Few values, so that observations repeat, replace and contradict each other; null and missing: nothing is said. */
const oneOf = <Value>(...values: readonly Value[]) => fc.constantFrom(null, undefined, ...values);

const email = fc.constantFrom(
  'ada@orbit.example',
  'Ada@fjord.example',
  'ada.b@post.example',
  'sales@orbit.example',
);
const emailStatus = oneOf(
  'verified',
  'Likely to engage',
  'unverified',
  'guessed',
  'bounced',
  'unavailable',
  'new',
);

const organization = fc.record(
  {
    id: oneOf('org-1', 'org-2'),
    name: oneOf('Orbit', 'Fjord'),
    primary_domain: oneOf('orbit.example', 'fjord.example'),
    industry: oneOf('space', 'boats'),
    estimated_num_employees: oneOf(7, 12_000),
  },
  { requiredKeys: [] },
);

/** Personal addresses: more than ten, so that their positions have one and two digits. */
const personalEmails = fc.array(
  fc.oneof(
    email,
    fc.nat({ max: 12 }).map((number) => `ada${number}@post.example`),
  ),
  {
    maxLength: 14,
  },
);

const person: fc.Arbitrary<Person> = fc.record(
  {
    id: oneOf('person-1'),
    first_name: oneOf('Ada', 'Adele'),
    last_name: oneOf('Berg', 'Boe'),
    name: oneOf('Ada Berg', 'Adele Boe'),
    email: fc.option(email),
    email_status: emailStatus,
    title: oneOf('Chief Pilot', 'Captain'),
    headline: oneOf('Flies', 'Sails'),
    seniority: oneOf('director', 'c_suite'),
    departments: oneOf([], ['flight'], ['flight', 'sea']),
    subdepartments: oneOf(['night'], ['day']),
    functions: oneOf(['operations']),
    city: oneOf('Oslo', 'Bergen'),
    state: oneOf('Vestland'),
    country: oneOf('Norway'),
    proflink_url: oneOf('https://www.proflink.example/in/ada', 'https://www.proflink.example/in/ada-b?trk=1'),
    photo_url: oneOf('https://img.example/1', 'https://img.example/2'),
    microblog_url: oneOf('https://microblog.example/ada'),
    codehost_url: oneOf('https://codehost.example/ada'),
    socialnet_url: oneOf('https://socialnet.example/ada'),
    extrapolated_email_confidence: oneOf(0.5),
    organization: fc.option(organization),
    employment_history: fc.option(
      fc.array(
        fc.record({
          title: oneOf('Captain'),
          organization_name: oneOf('Orbit'),
          current: oneOf(true, false),
        }),
        {
          maxLength: 2,
        },
      ),
    ),
    personal_emails: fc.option(personalEmails),
    contact: fc.option(fc.record({ email: fc.option(email), email_status: emailStatus })),
  },
  { requiredKeys: [] },
);

const stated = <Value>(...values: readonly Value[]) => fc.constantFrom(undefined, ...values);
const number = stated('+14155550100', '+14155550101', '+14155550102', 'ext. 7');

const phone: fc.Arbitrary<DeliveredPhone> = fc.record({
  rawNumber: number,
  sanitizedNumber: number,
  type: stated('mobile', 'work_direct', 'other', 'work_hq', 'home', 'satellite'),
  status: stated('valid_number', 'no_status', 'invalid_number'),
  dncStatus: stated('none', 'dnc', 'new'),
  confidence: stated('high', 'low'),
  position: stated(0, 1, 2, 9, 10, 11),
});

const lateResult = fc
  .record({
    kind: fc.constantFrom(...deliveryKindNames),
    phones: fc.array(phone, { maxLength: 4 }),
    emails: fc.array(fc.record({ email, status: emailStatus.map((status) => status ?? undefined) }), {
      maxLength: 3,
    }),
  })
  .map(({ kind, ...results }) => factsOfLateResult('person-1', kind, results));

const facts: fc.Arbitrary<ObservedFacts> = fc.oneof(
  person.map((each) => factsOfAnswer(each)),
  lateResult,
);

/** A few moments, so that some are equal; with fractions of a second of each length. */
const moment = fc
  .nat({ max: 5 })
  .map((index) => 1_767_225_600_000_000 + index * 86_400_123_450 + (index % 2) * 6);

/**
 * Observations of one person, in the form in which the log has them. Each has an id of its own. Ids, times of requests
 * and times of recording have independent orders.
 */
export const observedPerson: fc.Arbitrary<readonly Observation[]> = fc
  .array(fc.record({ facts, askedAt: moment, recordedAt: moment, order: fc.nat() }), {
    minLength: 1,
    maxLength: 7,
  })
  .map((all) =>
    all
      .toSorted((one, other) => one.order - other.order)
      .map(({ facts: { facts: said, organization_key: organizationKey }, askedAt, recordedAt }, index) => ({
        observationId: index + 1,
        askedAt,
        recordedAt,
        runId: `run-${index % 3}`,
        attemptId: `attempt-${index}`,
        organizationKey,
        // The log has JSON, in which undefined members are missing.
        facts: JSON.parse(JSON.stringify(said)) as Observation['facts'],
      })),
  );
