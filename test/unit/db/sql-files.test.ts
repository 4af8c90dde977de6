import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { runPriorities } from '../../../src/contract/temporal-names.ts';
import { nameListText } from '../../../src/db/expressions.ts';
import { allRunStatuses, planKeyPrefix, unfinishedCondition } from '../../../src/db/run-states.ts';
import { stablePlanSettings } from '../../../src/db/session-settings.ts';
import { identityColumns } from '../../../src/domain/identity/identity.ts';
import { headquartersPhoneType } from '../../../src/domain/identity/values/phone.ts';
import { recordedVerdicts } from '../../../src/domain/identity/verdicts.ts';
import {
  deliveryKindNames,
  deliveryKinds,
  deliveryStatuses,
  lateKindNames,
} from '../../../src/domain/late-results/delivery-kinds.ts';
import { attemptStatuses, statusesWithReservation } from '../../../src/domain/money/attempt-status.ts';
import { budgetPeriods, budgetPeriodNames } from '../../../src/domain/money/budget-periods.ts';
import {
  maxWindowSeconds,
  rateReportTrustSeconds,
  unlimitedCalls,
} from '../../../src/domain/rates/rate-limit.ts';
import { notifiedEvents } from '../../../src/domain/runs/notified-event.ts';
import { outcomes } from '../../../src/domain/runs/outcome.ts';
import { contactFieldGroups, personColumns } from '../../../src/domain/warehouse/person-columns.ts';

const folder = new URL('../../../src/db/sql/', import.meta.url);
const onOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll('( ', '(');
const files = Object.fromEntries(
  readdirSync(folder).map((name) => [name, onOneLine(readFileSync(new URL(name, folder), 'utf8'))]),
);

const contactColumns = personColumns.filter(({ inContacts }) => inContacts);
const identityCells = identityColumns.map(
  (name) => `${name} ${name === 'other_emails' ? 'text[]' : 'text'},`,
);
const keptPlans = Object.entries(stablePlanSettings).map(([name, value]) => `set ${name} = ${value}`);
const valuesOfGroups = Object.entries(contactFieldGroups).map(([group, columns]) => {
  const members = Object.keys(columns).map((column) => `'${column}', p.${column}`);
  return `when '${group}' then jsonb_build_object(${members.join(', ')})`;
});

const oneOf = (column: string, names: readonly string[]) => `check (${column} in (${nameListText(names)}))`;
const listOf = (names: readonly string[]) => `array_position(array[${nameListText(names)}]`;
const reserving = `status in (${nameListText(statusesWithReservation)})`;

it.each<[file: string, what: string, text: string]>([
  ['runs.sql', 'statuses of runs', oneOf('status', allRunStatuses)],
  ['runs.sql', 'statuses of unfinished runs', `where ${unfinishedCondition};`],
  ['runs.sql', 'outcomes', oneOf('outcome', outcomes)],
  ['runs.sql', 'cells that identify a contact', identityCells.join(' ')],
  ['facts.sql', 'cells that identify a contact', identityCells.join(' ')],
  ['facts.sql', 'kinds of observations', oneOf('kind', ['answer', ...deliveryKindNames])],
  ['facts.sql', 'verdicts about contacts', oneOf('verdict', recordedVerdicts)],
  ['ledger.sql', 'statuses of calls', oneOf('status', attemptStatuses)],
  ['ledger.sql', 'statuses of calls that hold credits', `(credits_settled is null) = (${reserving})`],
  ['ledger.sql', 'statuses of open calls in an index', `where ${reserving};`],
  ['late-results.sql', 'statuses of deliveries', oneOf('status', deliveryStatuses)],
  ['late-results.sql', 'kinds of late results', oneOf('kind', lateKindNames)],
  ['people.sql', 'columns of a person', personColumns.map(({ name, type }) => `${name} ${type},`).join(' ')],
  ['people.sql', 'columns of a contact', contactColumns.map(({ name }) => `p.${name},`).join(' ')],
  ['people.sql', 'groups of fields', `case s.field_group ${valuesOfGroups.join(' ')} end`],
  ['run-figures.sql', 'kinds of deliveries', `${listOf(deliveryKindNames)}, kind)`],
  ['run-figures.sql', 'pattern for switchboard numbers', `like_regex "^${headquartersPhoneType}$"`],
  ['run-figures.sql', 'statuses of calls that hold credits', `filter (where ${reserving})`],
  [
    'rate-windows.sql',
    'maximum age of rate reports',
    `said_at + make_interval(secs => ${rateReportTrustSeconds})`,
  ],
  ['rate-windows.sql', 'number that means unlimited calls', `calls_left < ${unlimitedCalls} `],
  [
    'rate-windows.sql',
    'longest rate window',
    `counted_until < at - make_interval(secs => ${maxWindowSeconds})`,
  ],
  ['budgets.sql', 'periods of budgets', oneOf('period', budgetPeriodNames)],
  [
    'budgets.sql',
    'names of budgets',
    `(values ${budgetPeriodNames.map((name) => `('${name}', '"${name}:"${budgetPeriods[name].format}')`).join(', ')})`,
  ],
  ['admission.sql', 'settings for cached query plans', keptPlans.join(' ')],
  ['admission.sql', 'priorities of runs', `${listOf(runPriorities)}, of_priority)`],
  ['notifications.sql', 'events of notifications', oneOf('event', notifiedEvents)],
  ['notifications.sql', 'key prefix of runs that only plan', `not like '${planKeyPrefix}%'`],
  [
    'common-columns.sql',
    'origins of phones',
    `('origin', '${deliveryKindNames.map((kind) => deliveryKinds[kind].phoneOrigin).join(' or ')}')`,
  ],
])('src/db/sql/%s and the TypeScript code have the same %s', (file, _, text) => {
  expect(files[file]).toContain(text);
});
