import { Command } from '../../terminal/command.ts';
import { worstCaseCredits } from '../../../domain/money/credit-rules.ts';
import { formatCredits } from '../../../domain/money/decimal.ts';
import { parseDomain } from '../../../domain/identity/values/domain-name.ts';
import { parseEmail, parseHashedEmail } from '../../../domain/identity/values/email-address.ts';
import type { Identity } from '../../../domain/identity/identity.ts';
import { isStub } from '../../../domain/identity/identity-evidence.ts';
import { identityKeys } from '../../../domain/identity/identity-keys.ts';
import {
  parseFullName,
  parseName,
  parseOrganizationName,
} from '../../../domain/identity/values/normalise.ts';
import { periodNames } from '../../../domain/money/budget-periods.ts';
import { UsageProblem, exitCodes } from '../../../domain/problem.ts';
import { findWrittenProfileUrl, parseProfileUrl } from '../../../domain/identity/values/profile-url.ts';
import { matchPerson } from '../../../calls/match-person.ts';
import type { MatchAnswer } from '../../../service/client.ts';
import { toDetail } from '../../../service/request-details.ts';
import { agrees } from '../../terminal/confirm.ts';
import { visible } from '../../../domain/text/visible.ts';
import { describeService } from '../../run/describe/describe-service.ts';
import { labelled, print, printJson, table, tell, write } from '../../terminal/output.ts';
import { withSession } from '../../session/session.ts';
import { settingsOf, withSettings } from '../../session/settings-flags.ts';
import { withSessionClient } from '../../session/with-service.ts';

/** The options that identify a person. Each is parsed like the same column of an export. */
const fields = {
  email: { identity: 'email', parse: parseEmail, describe: 'email address' },
  hashedEmail: { identity: 'hashedEmail', parse: parseHashedEmail, describe: 'MD5 or SHA-256 of the email' },
  profileUrl: { identity: 'profileUrl', parse: parseProfileUrl, describe: 'profile URL' },
  id: { identity: 'personId', parse: (text: string) => text, describe: 'the service’s own id of the person' },
  firstName: { identity: 'firstName', parse: parseName, describe: 'first name' },
  lastName: { identity: 'lastName', parse: parseName, describe: 'last name' },
  name: { identity: 'name', parse: parseFullName, describe: 'full name' },
  organization: { identity: 'organizationName', parse: parseOrganizationName, describe: 'employer' },
  domain: { identity: 'domain', parse: parseDomain, describe: 'domain of the employer' },
} as const satisfies Record<
  string,
  { identity: keyof Identity; parse: (text: string) => string | undefined; describe: string }
>;

type MatchOptions = { readonly [Field in keyof typeof fields]?: string } & {
  readonly revealEmail?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
};

export function matchCommand(): Command {
  const command = withSettings(new Command('match'));
  for (const [name, { describe }] of Object.entries(fields)) {
    command.option(`--${kebabCase(name)} <text>`, describe);
  }
  return command
    .description('Ask the service for one person, after showing the request and its price.')
    .option('--reveal-email', 'also ask for personal email addresses')
    .option('--yes', 'spend the price without asking')
    .option('--json', 'the answer as the service gave it; without --yes, the request')
    .explain(`
Without a terminal and without --yes nothing is sent. The call belongs to no run. The rate limits and the period
budgets (${periodNames.join(', ')}) apply to it. Its answer is not stored.

Example:
  enrich match --email mira@nordlys.example --last-name Lindqvist --yes`)
    .action(async (options: MatchOptions) => {
      const config = settingsOf(options);
      const person = readIdentity(options);
      const sent = asWritten(person, options.profileUrl);
      const reveal = options.revealEmail === true ? (['email'] as const) : [];
      // The command itself calls the service, also beside a Temporal server.
      tell(describeService({ service: config.service, temporalAddress: undefined }));
      tell('would send:');
      const request = toDetail(sent);
      const price = formatCredits(worstCaseCredits({ reveal }));
      tell(table(Object.entries(request)));
      tell(`price in credits: at most ${price}`);
      if (options.yes !== true && !(await agrees('send it?'))) {
        tell('nothing was sent; repeat the command with --yes to spend');
        if (options.json === true)
          printJson({ sent: false, request: { ...request }, maximum_credits: price });
        process.exitCode = exitCodes.needsPerson;
        return;
      }
      await withSession(config, { temporal: false, service: true }, async (session) => {
        const answer = await withSessionClient(session, (dependencies) =>
          matchPerson({ ...dependencies, budgets: config.budgets.perPeriod }, { person, reveal }, sent),
        );
        printAnswer(answer, options.json === true);
      });
    });
}

/** @throws Problem `match.unusable`; `match.no-person` where a row of an export with these cells is `no_identifier` */
function readIdentity(options: MatchOptions): Identity {
  const given = Object.entries(fields).flatMap(([name, { identity, parse, describe }]) => {
    const text = options[name as keyof typeof fields];
    if (text === undefined) return [];
    const value = parse(text);
    if (value !== undefined) return [[identity, value]];
    throw new UsageProblem(
      'match.unusable',
      `the value of --${kebabCase(name)} cannot be read as ${describe}`,
      {
        where: `--${kebabCase(name)}`,
        next: 'correct the value; enrich match --help has an example',
      },
    );
  });
  const person = Object.fromEntries(given) as Identity;
  if (identityKeys(person).length > 0) return person;
  throw new UsageProblem('match.no-person', 'the options identify no person', {
    where: 'enrich match',
    next:
      'give --email, --hashed-email, --profile-url or --id; or a name (--first-name and --last-name, or --name) with ' +
      '--organization or --domain',
  });
}

/** A call sends a profile URL as it is written; keys compare its normalised form. */
function asWritten(person: Identity, written: string | undefined): Identity {
  const profileUrl = person.profileUrl && written && findWrittenProfileUrl([written], person.profileUrl);
  return profileUrl ? { ...person, profileUrl } : person;
}

function printAnswer(answer: MatchAnswer, json: boolean): void {
  if (json) {
    // Every output is one line. Within JSON strings, line ends are escaped, so those that are left are formatting.
    const lines = answer.raw
      .toString()
      .trim()
      .split(/[\r\n]+/);
    write(process.stdout, `${visible(lines.map((line) => line.trim()).join(' '))}\n`);
    return;
  }
  const { person } = answer;
  if (person === undefined || isStub(person)) {
    print('the service did not find this person');
    return;
  }
  const facts = {
    name: person.name,
    title: person.title,
    organization: person.organization?.name,
    domain: person.organization?.primary_domain,
    email: person.email,
    'email status': person.email_status,
    profile: person.proflink_url,
    'person id': person.id,
    'request id': answer.requestId,
  };
  print(labelled(Object.entries(facts).map(([name, value]) => [name, value ?? '-'])));
}

function kebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
