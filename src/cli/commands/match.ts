import { matchPerson } from '../../calls/match-person.ts';
import { isEmptyPerson } from '../../domain/identity/identity-evidence.ts';
import { identityKeys } from '../../domain/identity/identity-keys.ts';
import type { Identity } from '../../domain/identity/identity.ts';
import { parseDomain, parseEmail } from '../../domain/identity/values/email-address.ts';
import { parseFullName, parseOrganizationName } from '../../domain/identity/values/normalise.ts';
import { parseProfileUrl } from '../../domain/identity/values/profile-url.ts';
import { budgetPeriodNames } from '../../domain/money/budget-periods.ts';
import { worstCaseCredits } from '../../domain/money/credit-rules.ts';
import { formatCredits } from '../../domain/money/decimal.ts';
import { UsageProblem } from '../../domain/problem.ts';
import { toDetail, type MatchAnswer } from '../../service/client.ts';
import { describeService, refuseMixedWarehouse, withSessionClient } from '../session/with-service.ts';
import { withSession, readSettings } from '../session/session.ts';
import { Command, Option, type CommonFlags } from '../terminal/command.ts';
import { confirmUnlessYes } from '../terminal/confirm.ts';
import { describeFields, print, printJson, formatTable, printProgress, write } from '../terminal/output.ts';

/** A flag with a value of the person. `parse` returns undefined for a wrong text; `what` names the value in errors. */
interface IdentityFlag {
  readonly identity: keyof Identity;
  readonly parse: (text: string) => string | undefined;
  readonly what: string;
}

const identityFlags: Readonly<Record<string, IdentityFlag>> = {
  email: { identity: 'email', parse: parseEmail, what: 'email address' },
  name: { identity: 'name', parse: parseFullName, what: 'full name' },
  organization: { identity: 'organizationName', parse: parseOrganizationName, what: 'employer' },
  domain: { identity: 'domain', parse: parseDomain, what: 'domain of the employer' },
  'profile-url': { identity: 'profileUrl', parse: parseProfileUrl, what: 'profile URL' },
  id: { identity: 'personId', parse: (text) => text, what: 'the service’s own id of the person' },
};

export function matchCommand(): Command {
  const command = new Command('match');
  for (const [name, { what }] of Object.entries(identityFlags)) command.option(`--${name} <text>`, what);
  return command
    .description('Ask the service for one person, after showing the request and its price.')
    .addOption(new Option('--reveal <what>', 'also ask for personal email addresses').choices(['email']))
    .option('--yes', 'spend the price without asking')
    .option('--json', 'the answer as the service gave it; without --yes, the request')
    .examples(`
  enrich match --email mira@nordlys.example --name "Mira Lindqvist" --yes`)
    .explain(`
Without a terminal and without --yes nothing is sent. The call belongs to no run. The rate limits and the period
budgets (${budgetPeriodNames.join(', ')}) apply to it. Its answer is not stored.`)
    .action(async (options: CommonFlags & { readonly reveal?: 'email' }) => {
      const config = readSettings();
      const given = command.opts<Readonly<Record<string, string | undefined>>>();
      const person = readIdentity(given);
      const reveal = options.reveal === undefined ? [] : [options.reveal];
      // `enrich match` calls the service itself, even if the settings name a Temporal server.
      printProgress(describeService({ service: config.service, temporalAddress: undefined }));
      const request = toDetail(person);
      const price = formatCredits(worstCaseCredits({ reveal }));
      printProgress(
        `would send:\n${formatTable(Object.entries(request))}\nprice in credits: at most ${price}`,
      );
      if (!(await confirmUnlessYes('send it?', options, 'nothing was sent'))) {
        if (options.json === true)
          printJson({ sent: false, request: { ...request }, maximum_credits: price });
        return;
      }
      await withSession(config, { temporal: false, service: true }, async (session) => {
        await refuseMixedWarehouse(session);
        const answer = await withSessionClient(session, (dependencies) =>
          matchPerson({ ...dependencies, budgets: config.budgets.perPeriod }, { person, reveal }),
        );
        if (options.json === true) printRaw(answer);
        else printAnswer(answer);
      });
    });
}

/** Reads the person from the flags. @throws UsageProblem for a wrong value, or if no value identifies anybody */
function readIdentity(texts: Readonly<Record<string, string | undefined>>): Identity {
  const given = Object.entries(identityFlags).flatMap(([name, { identity, parse, what }]) => {
    // Commander stores the value of `--profile-url` under `profileUrl`.
    const text = texts[new Option(`--${name}`).attributeName()];
    if (text === undefined) return [];
    const value = parse(text);
    if (value !== undefined) return [[identity, value]];
    throw new UsageProblem('match.unusable', `the value of --${name} cannot be read as ${what}`, {
      where: `--${name}`,
      next: 'correct the value; enrich match --help has an example',
    });
  });
  const person = Object.fromEntries(given) as Identity;
  if (identityKeys(person).length > 0) return person;
  throw new UsageProblem('match.no-person', 'the options identify no person', {
    where: 'enrich match',
    next: 'give --email, --profile-url or --id; or --name with --organization or --domain',
  });
}

/** Prints an answer on one line. Line breaks within JSON strings are escaped, so all others are only formatting. */
function printRaw({ raw }: MatchAnswer): void {
  const line = raw.toString().trim();
  write(process.stdout, `${line.replaceAll(/\s*[\r\n]+\s*/g, ' ')}\n`);
}

function printAnswer({ person, requestId }: MatchAnswer): void {
  if (person === undefined || isEmptyPerson(person)) return print('the service did not find this person');
  const facts = {
    name: person.name,
    title: person.title,
    organization: person.organization?.name,
    domain: person.organization?.primary_domain,
    email: person.email,
    'email status': person.email_status,
    profile: person.proflink_url,
    'person id': person.id,
    'request id': requestId,
  };
  print(describeFields(facts));
}
