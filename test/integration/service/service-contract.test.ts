import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatCredits, wholeCredits } from '../../../src/domain/money/decimal.ts';
import { Population } from '../../../src/sandbox/population.ts';
import type { Rule, Scenario } from '../../../src/sandbox/faults.ts';
import { defaultApiKey, startSandbox, type RunningSandbox } from '../../../src/sandbox/server.ts';
import { createServiceClient, type ServiceClient } from '../../../src/service/client.ts';
import { readLateResult } from '../../../src/service/answers/late-result.ts';

/** The client against the other side of the wire, before and after the cut-over of the error payloads. */
describe.each([
  ['before 16 February 2027', Date.UTC(2026, 10, 21)],
  ['after 16 February 2027', Date.UTC(2027, 1, 17)],
])('the client %s', (_, clock) => {
  const people = new Population();
  const known = { personId: people.numbered(0).id };
  const nobody = { personId: 'nobody' };
  let sandbox: RunningSandbox;
  let client: ServiceClient;

  beforeAll(async () => {
    sandbox = await startSandbox({
      rateLimits: '1000/minute,5000/hour',
      lateDelay: 0,
      apiKeys: [defaultApiKey, { key: 'scoped', scopes: ['/people/match'] }],
      accessTokens: ['token-1'],
      tokenCalls: 2,
      now: () => clock,
    });
    client = clientWith({ kind: 'api-key', value: defaultApiKey });
  });

  afterAll(async () => {
    await client.close();
    await sandbox.close();
  });

  function clientWith(
    credential: Parameters<typeof createServiceClient>[0]['credential'],
    callTimeoutSeconds = 20,
  ): ServiceClient {
    return createServiceClient({
      baseUrl: sandbox.baseUrl,
      credential,
      callTimeoutSeconds,
      pollPath: '/webhook_result/{request_id}',
    });
  }

  /** One bulk call under a fault, and what the sandbox billed for it. */
  async function under(rule: Rule, details = [known, nobody], caller = client, scenario: Scenario = {}) {
    sandbox.faults.set({ rules: [rule], ...scenario });
    const before = Number(sandbox.log.bill().credits);
    const outcome = await caller.bulkMatch({ details }).catch((error: unknown) => error);
    sandbox.faults.set({ rules: [] });
    return { outcome, billed: Number(sandbox.log.bill().credits) - before };
  }

  it('a bulk call finds, misses, counts and bills', async () => {
    const answer = await client.bulkMatch({ details: [known, nobody] });
    expect(answer.matches.map((match) => match?.id ?? null)).toEqual([known.personId, null]);
    expect(answer).toMatchObject({
      creditsConsumed: wholeCredits(1),
      uniqueEnrichedRecords: 1,
      missingRecords: 1,
      unreadableMatches: [],
    });
  });

  it('request ids are those in the log of the service', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => client.bulkMatch({ details: [known] })),
    );
    const logged = new Set(sandbox.log.calls(0).map((call) => call.requestId));
    for (const { requestId } of answers) expect(logged).toContain(requestId);
  });

  it('an answer reports the rate windows', async () => {
    const { rateLimits } = await client.bulkMatch({ details: [nobody] });
    expect(rateLimits.map(({ window, limit }) => [window, limit])).toEqual([
      ['minute', 1_000],
      ['hour', 5_000],
    ]);
  });

  it('match() finds one person by query, with any characters', async () => {
    const found = await client.match({ person: { ...known, name: 'Åsa & “Bo” +1' } });
    expect(found.person?.id).toBe(known.personId);
    expect((await client.match({ person: nobody })).person).toBeUndefined();
  });

  it('personal addresses are returned only on request', async () => {
    const everybody = Array.from({ length: 10 }, (__, number) => ({ personId: people.numbered(number).id }));
    const addressesWith = async (reveal: readonly 'email'[]) => {
      const { matches } = await client.bulkMatch({ details: everybody, reveal });
      return matches.flatMap((match) => match?.personal_emails ?? []);
    };
    expect(await addressesWith([])).toEqual([]);
    expect(await addressesWith(['email'])).not.toEqual([]);
  });

  it('health() and profile() report a working credential and its user', async () => {
    const before = sandbox.log.bill();
    expect(await client.health()).toEqual({ credentialWorks: true });
    expect((await client.profile()).id).toMatch(/^5b/);
    expect(sandbox.log.bill()).toMatchObject({ calls: before.calls, credits: before.credits });
  });

  it('an access token is accepted', async () => {
    const other = clientWith({ kind: 'access-token', value: 'token-1' });
    expect(await other.health()).toEqual({ credentialWorks: true });
    await other.close();
  });

  it('an expired access token is renewed, and the call is repeated', async () => {
    const script =
      `fetch('${sandbox.controlUrl}/token', { method: 'POST' }).then(async (answer) => ` +
      'console.log(await ' +
      'answer.text()))';
    const credential = { kind: 'access-token', command: `'${process.execPath}' -e "${script}"` } as const;
    // A call may begin by starting that program, and a busy machine takes seconds for it.
    const other = clientWith(credential, 60);
    const ids = [];
    for (let call = 0; call < 5; call += 1) ids.push((await other.profile()).id);
    await other.close();
    expect([ids.length, new Set(ids).size]).toEqual([5, 1]);
  });

  it('a key with scopes may call only these paths, and pauses with 403 elsewhere', async () => {
    const other = clientWith({ kind: 'api-key', value: 'scoped' });
    expect((await other.match({ person: known })).person?.id).toBe(known.personId);
    const refused = { type: 'forbidden', disposition: 'pause', mayHaveBeenBilled: false };
    await expect(other.bulkMatch({ details: [known] })).rejects.toMatchObject(refused);
    await other.close();
  });

  it('usage agrees with the log', async () => {
    const { rateLimits } = await client.bulkMatch({ details: [nobody] });
    const usage = await client.apiUsage();
    const bulk = usage.find(({ path, action }) => path === 'api/v1/people' && action === 'bulk_match');
    expect(bulk?.windows.filter(({ limit }) => limit !== null)).toEqual(rateLimits);
    const { kinds } = await client.creditUsage();
    expect(formatCredits(kinds[0]?.consumed ?? -1n)).toBe(sandbox.log.bill().credits);
  });

  it('a poll returns late results by the exact id, and refuses unknown ids', async () => {
    const { requestId = '', phoneEnrichment } = await client.bulkMatch({
      details: [known],
      reveal: ['phone'],
      webhookUrl: 'http://127.0.0.1:9/nobody-listens',
    });
    expect(phoneEnrichment).toEqual({ status: 'pending' });
    await expect.poll(async () => (await client.poll(requestId)).state).toBe('result');
    const poll = await client.poll(requestId);
    const late = poll.state === 'result' ? readLateResult(poll.body) : undefined;
    expect(late?.people.map(({ id }) => id)).toEqual([known.personId]);
    expect(await client.poll('77')).toMatchObject({ state: 'gone' });
  });

  it.each([
    ['a wrong key', { kind: 'api-key', value: 'wrong' } as const],
    ['a key as a token', { kind: 'access-token', value: defaultApiKey } as const],
  ])('a call pauses with %s, on every endpoint', async (_name, credential) => {
    const other = clientWith(credential);
    const refused = { type: 'unauthorized', disposition: 'pause', mayHaveBeenBilled: false };
    await expect(other.bulkMatch({ details: [known] })).rejects.toMatchObject(refused);
    await expect(other.match({ person: known })).rejects.toMatchObject(refused);
    await expect(other.health()).rejects.toMatchObject(refused);
    await other.close();
  });

  it.each<[Rule, string, string]>([
    [{ status: 401 }, 'unauthorized', 'pause'],
    [{ status: 402 }, 'out-of-credits', 'pause'],
    [{ status: 403 }, 'forbidden', 'pause'],
    [{ status: 403, code: 'BILLING.CREDITS.EXHAUSTED' }, 'out-of-credits', 'pause'],
    [{ status: 400, code: 'PEOPLE.VALIDATION.RECORD_LIMIT_EXCEEDED' }, 'record-limit', 'reject'],
    [{ status: 429, retry_after: '7', encoded_twice: true }, 'rate-limited', 'wait'],
    [{ status: 422 }, 'validation', 'reject'],
    [{ status: 429, retry_after: '7' }, 'rate-limited', 'wait'],
  ])('an answer with %o is a refusal that costs nothing', async (rule, type, disposition) => {
    const { outcome, billed } = await under(rule);
    expect(outcome).toMatchObject({ type, disposition, mayHaveBeenBilled: false });
    expect(billed).toBe(0);
  });

  it.each([200, 402, 403] as const)('a lack of credits with status %i is a refusal', async (status) => {
    const scenario = { credits_left: 0, out_of_credits: status };
    const { outcome, billed } = await under({}, undefined, undefined, scenario);
    expect(outcome).toMatchObject({ type: 'out-of-credits', disposition: 'pause', mayHaveBeenBilled: false });
    expect(billed).toBe(0);
  });

  it.each<[string, number | undefined]>([
    ['0', 0],
    ['7', 7],
    ['99999999999', 86_400],
    ['soon', undefined],
  ])('a retry-after of %s is bounded', async (value, expected) => {
    const { outcome } = await under({ status: 429, retry_after: value });
    const seconds = (outcome as { retryAfterSeconds?: number }).retryAfterSeconds;
    // After the cut-over the body names its own back-off beside the header.
    expect([expected, Math.max(expected ?? 0, 1)]).toContain(seconds);
  });

  it.each<Rule>([
    { answer: 'reset' },
    { answer: 'cut' },
    { answer: 'html' },
    { answer: 'empty' },
    { matches: 'not-a-list' },
    { status: 502 },
  ])('the bill of %o is unknown', async (rule) => {
    const { outcome, billed } = await under(rule);
    expect(outcome).toMatchObject({ disposition: 'unknown', mayHaveBeenBilled: true });
    expect(billed).toBe(1);
  });

  it('the bill of a call without an answer in time is unknown', async () => {
    const impatient = clientWith({ kind: 'api-key', value: defaultApiKey }, 1);
    const { outcome, billed } = await under({ delay: 1_500 }, undefined, impatient);
    expect(outcome).toMatchObject({ disposition: 'unknown', mayHaveBeenBilled: true });
    expect(billed).toBe(1);
    await impatient.close();
  });

  it.each<[Rule, object]>([
    [{ credits: 'missing' }, { creditsConsumed: undefined, creditsProblem: 'absent' }],
    [{ credits: 'negative' }, { creditsConsumed: undefined, creditsProblem: 'negative' }],
    [{ credits: 'text' }, { creditsConsumed: undefined, creditsProblem: 'not-a-number' }],
    [{ credits: 'fractional' }, { creditsConsumed: 1_500_000n, creditsProblem: undefined }],
  ])('credits of %o are settled exactly or not at all', async (rule, expected) => {
    expect((await under(rule)).outcome).toMatchObject(expected);
  });

  it.each<NonNullable<Rule['matches']>>(['null', 'drop', 'reverse', 'stub', 'foreign', 'short', 'duplicate'])(
    'matches that are %s are returned as they came',
    async (matches) => {
      expect((await under({ matches })).outcome).toMatchObject({ unreadableMatches: [] });
    },
  );

  it('a person whom the service cannot read is rejected', async () => {
    const { outcome, billed } = await under({}, [{ personId: 7 as never }]);
    expect(outcome).toMatchObject({ type: 'validation', disposition: 'reject' });
    expect(billed).toBe(0);
  });
});
