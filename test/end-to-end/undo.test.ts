import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunFacts } from '../../src/contract/run-facts.ts';
import { TestSystem, type Ended } from '../helpers/system/test-system.ts';
import { expectPromisesKept } from '../helpers/system/promises.ts';

const system = await TestSystem.ofFile({ latency: 20 });
await system.startWorker({ LATE_RESULTS_POLL_AFTER: '1s' });

/** Contacts and phones as they are, in every column. */
async function contents(): Promise<string> {
  const rows = await system.warehouse.query<{ content: string }>`
    select (select coalesce(string_agg(c::text, E'\\n' order by c::text), '') from enriched_contacts c)
    || (select coalesce(string_agg(p::text, E'\\n' order by p::text), '') from person_phones p) as content`;
  return rows[0]!.content;
}

/** Contacts that a run gave a person to, or took one from. */
async function contactsDecidedBy(runId: string): Promise<number> {
  const rows = await system.warehouse.query<{ contacts: number }>`
    select count(distinct (source, contact_id))::int as contacts
    from enrichment.contact_matches where run_id = ${runId}`;
  return rows[0]!.contacts;
}

async function enriched(file: string, ...flags: readonly string[]): Promise<RunFacts> {
  return (await system.here(['run', file, '--yes', '--json', ...flags])).facts();
}

async function undo(runId: string, ...flags: readonly string[]): Promise<{ ended: Ended; said: Said }> {
  const ended = await system.here(['undo', runId, '--json', ...flags]);
  return { ended, said: JSON.parse(ended.stdout) as Said };
}

interface Said {
  readonly undone: boolean;
  readonly removed: number;
  readonly returned: number;
  readonly restored: number;
}

describe('enrich undo', () => {
  it('enrich undo shows its effect, asks, and restores the contacts before the run', async () => {
    await enriched(system.sample(20));
    const before = await contents();
    const run = await enriched(system.sample(30), '--reveal', 'phone');
    const after = await contents();
    expect(after).not.toBe(before);

    const shown = await undo(run.run_id);
    expect(shown.ended).toMatchObject({ code: 3, stderr: expect.stringContaining('nothing was changed') });
    expect(shown.said.undone).toBe(false);
    expect(shown.said.removed + shown.said.restored).toBe(await contactsDecidedBy(run.run_id));
    expect(await system.answerPrompts(['undo', run.run_id], 'n\n')).toMatchObject({ code: 0 });
    expect(await contents()).toBe(after);

    const { code, shown: said } = await system.answerPrompts(
      ['undo', run.run_id, '--reason', 'wrong'],
      'y\n',
    );
    expect(code).toBe(0);
    expect(said).toMatch(new RegExp(`known from this run alone: removed +${shown.said.removed}\\s`));
    expect(said).toContain(`${run.credits.settled} settled credits are not refunded`);
    expect(await contents()).toBe(before);
    await expectPromisesKept(system);

    const again = await system.here(['undo', run.run_id, '--yes']);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('the run is undone already') });
    expect((await system.here(['status', run.run_id])).stdout).toMatch(/undone on .+ by .+ \(wrong\)/);
    expect((await system.here(['report', run.run_id])).stdout).toContain('finished, undone');
  });

  it('enrich undo undoes runs in any order, and takes an undo back', async () => {
    const file = system.sample(20);
    const before = await contents();
    const first = await enriched(file);
    const second = await enriched(file, '--freshness', '0s');
    const both = await contents();
    expect(await undo(first.run_id, '--yes')).toMatchObject({ ended: { code: 0 }, said: { removed: 0 } });
    expect(await undo(first.run_id, '--revert', '--yes')).toMatchObject({
      ended: { code: 0 },
      said: { undone: false },
    });
    expect(await contents()).toBe(both);
    await undo(first.run_id, '--yes');
    const { removed } = (await undo(second.run_id, '--yes')).said;
    expect(removed).toBeGreaterThan(0);
    expect(await contents()).toBe(before);
    for (const flags of [[], ['--yes']])
      expect((await undo(second.run_id, '--revert', ...flags)).said).toMatchObject({
        removed: 0,
        returned: removed,
      });
    await undo(second.run_id, '--yes');
  });

  it('enrich undo keeps people from being paid for again, until --forget', async () => {
    const file = system.sample(20);
    const first = await enriched(file);
    await undo(first.run_id, '--yes');
    const again = join(system.directory, 'again.csv');
    writeFileSync(again, `${readFileSync(file, 'utf8')}\n`);
    expect(await enriched(again)).toMatchObject({ calls: 0, outcomes: { fresh: expect.any(Number) } });
    const { ended } = await undo(first.run_id, '--forget', '--yes');
    expect(ended.code).toBe(0);
    expect((await enriched(again)).outcomes).toEqual(first.outcomes);
    await expectPromisesKept(system);
  });

  it('enrich undo says how to stop the schedule that may take the file of the run again', async () => {
    const run = await enriched(system.sample(5));
    await system.warehouse.pool.query('update runs set options = options || $2::jsonb where run_id = $1', [
      run.run_id,
      { schedule: 'nightly' },
    ]);
    const { ended } = await undo(run.run_id);
    expect(ended.stderr).toContain('correct the schedule, or pause it in the Temporal UI');
    const byHand = await enriched(system.sample(6));
    expect((await undo(byHand.run_id)).ended.stderr).not.toContain('schedule');
  });

  it.each([[`status = 'paused', finished_at = null`, 2, 'has not ended: it is paused', 'enrich cancel']])(
    'enrich undo refuses a run with %s, and says what to do',
    async (state, code, why, next) => {
      const run = await enriched(system.sample(5));
      await system.warehouse.pool.query(`update runs set ${state} where run_id = $1`, [run.run_id]);
      const before = await contents();
      const ended = await system.here(['undo', run.run_id, '--yes']);
      expect(ended).toMatchObject({ code, stderr: expect.stringContaining(why) });
      expect(ended.stderr).toContain(next);
      expect(await contents()).toBe(before);
      await system.warehouse.query`
        update runs set status = 'finished', finished_at = now() where run_id = ${run.run_id}`;
    },
  );
});
