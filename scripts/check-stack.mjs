// Tests docker-compose.yml on a container engine, as an operator uses it: runs, webhooks, a schedule, a killed
// warehouse, an upgrade during a run, backup and restore. CHECK_STACK_OVERRIDE names a compose file with other images.
import { fileURLToPath } from 'node:url';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ComposeStack, missingEngine, until } from './compose-stack.mjs';

const missing = missingEngine();
if (missing !== undefined) {
  console.log(`skipped: ${missing}`);
  process.exit(0);
}
const root = fileURLToPath(new URL('..', import.meta.url));
const override = process.env.CHECK_STACK_OVERRIDE;
const stack = await ComposeStack.prepare(root, override && resolve(override));
const everyMinute = ['--cron', '* * * * *', '--every-new', '/exports/inbox/*.csv', '--max-credits', '200'];
const watched = ['worker', 'receiver', 'warehouse', 'temporal'];
try {
  await step('build the image', async () => void (await stack.compose(['build', 'worker'])));
  await step('start, until all is healthy', async () => {
    await stack.compose(['up', '--detach']);
    await stack.healthy([...watched, 'sandbox', 'temporal-ui']);
  });
  // Exit code 3 of the doctor is only advice, such as to set a budget.
  await step('doctor', async () => void (await stack.enrich(['doctor'], { accept: [0, 3] })));
  await step('a run of 300 rows from standard input', async () => {
    const run = await stack.facts(['run', '-', '--yes'], { input: exportOf('stdin', 300) });
    expectFinished(run, 300);
    return describe(run);
  });
  await step('phones of 60 people by webhook', async () => {
    stack.writeExport('phones.csv', exportOf('phones', 60));
    const run = await stack.facts(['run', '/exports/phones.csv', '--reveal', 'phone', '--yes']);
    expectFinished(run, 60);
    const deliveries = await stack.query(
      "select count(*) from enrichment.webhook_deliveries where status = 'applied'",
    );
    expect(Number(deliveries) > 0, 'no delivery was applied');
    return `${describe(run)}, ${deliveries} deliveries`;
  });
  await step('a schedule', async () => {
    stack.writeExport('inbox/new.csv', exportOf('inbox', 30));
    await stack.enrich(['schedule', 'set', 'minutely', ...everyMinute]);
    const finished = "select count(*) from enrichment.runs where status = 'finished'";
    await until('the scheduled run finished', 180, async () => (await stack.query(finished)) === '3');
    await stack.enrich(['schedule', 'delete', 'minutely']);
  });

  stack.writeExport('large.csv', exportOf('large', 20_000));
  const large = ['run', '/exports/large.csv', '--yes'];
  const running = stack.facts(large, { accept: [0, 1, 3] }).catch((error) => error);
  await step('the warehouse killed in the middle of a run', async () => {
    await callsMade(100);
    await stack.compose(['kill', 'warehouse']);
    await sleep(10_000);
    await stack.compose(['start', 'warehouse']);
    await stack.healthy(watched);
    await callsMade(50);
  });
  await step('a release in the middle of the run', async () => {
    stack.release = 2;
    await stack.compose(['build', 'worker']);
    await stack.enrich(['migrate']);
    await stack.compose(['up', '--detach', '--no-deps', 'receiver']);
    await stack.compose(['up', '--detach', '--no-deps', '--no-recreate', '--scale', 'worker=4', 'worker']);
    await stack.healthy(['worker']);
    await stack.compose(['up', '--detach', '--no-deps', 'worker']);
    await stack.healthy(watched);
    await callsMade(1);
  });
  await step('the end of the run, and its money', async () => {
    let run = await running;
    // The command may end together with the database, but the run continues on the workers.
    if (run.status !== 'finished') {
      const id = await stack.query("select run_id from enrichment.runs where status <> 'finished' limit 1");
      run = id === '' ? await stack.facts(['status', 'latest']) : await stack.facts(['resume', id]);
    }
    expectFinished(run, 20_000);
    return `${describe(run)}; ${await checkMoney()}`;
  });

  await step('backup, loss of the volume, restore', restore);
  await step('the restored warehouse knows the people of the run', async () => {
    const plan = await stack.facts(['plan', '/exports/large.csv'], { accept: [0, 3] });
    expect(plan.dropped.fresh > 19_000, `the plan asks again: ${JSON.stringify(plan)}`);
  });
} catch (error) {
  console.error(`failed: ${error.message}`);
  console.error(await stack.compose(['logs', '--no-color', '--tail', '15']).catch(String));
  process.exitCode = 1;
} finally {
  await step('down', () => stack.remove());
}

/** Removes the warehouse after a backup, and restores it with the steps of docs/guides/restore.md. */
async function restore() {
  const contacts = 'select count(*) from enrichment.enriched_contacts';
  const before = await stack.query(contacts);
  const inWarehouse = (command) => ['exec', '-T', 'warehouse', 'sh', '-c', command];
  await stack.compose(['stop', 'worker', 'receiver']);
  const pause = (flag) => ['--schedule-id', 'enrichment-late-results', flag, '--reason', 'restore'];
  await stack.temporal(['schedule', 'toggle', ...pause('--pause')]);
  // The dump is binary, so it is sent as base64.
  const dump = await stack.compose(inWarehouse('pg_dump --username enrich --format custom enrich | base64'));
  const roles = await stack.compose(inWarehouse('pg_dumpall --username enrich --roles-only'));
  await stack.compose(['rm', '--stop', '--force', 'warehouse']);
  stack.removeVolume('warehouse');
  await stack.compose(['up', '--detach', 'warehouse']);
  await stack.healthy(['warehouse']);
  await stack.compose(inWarehouse('psql --quiet --username enrich --dbname enrich'), { input: roles });
  const restoring = inWarehouse(
    'base64 -d | pg_restore --username enrich --dbname enrich --clean --if-exists',
  );
  await stack.compose(restoring, { input: dump });
  await stack.compose(['up', '--detach', '--no-deps', 'worker', 'receiver']);
  await stack.healthy(watched);
  await stack.temporal(['schedule', 'toggle', ...pause('--unpause')]);
  const after = await stack.query(contacts);
  expect(after === before, `${before} contacts before, ${after} after`);
  return `${after} contacts, dump of ${Math.round((dump.length * 0.75) / 1_048_576)} MB`;
}

/** Checks that the warehouse has settled or reserved all credits billed, and that no person was billed twice. */
async function checkMoney() {
  const bill = await stack.bill();
  const [attempts, unknown, settled, held] = (
    await stack.query(
      "select count(*), count(*) filter (where status = 'unknown'), coalesce(sum(credits_settled), 0), " +
        'coalesce(sum(credits_reserved) filter (where credits_settled is null), 0) from enrichment.attempts',
    )
  )
    .split('|')
    .map(Number);
  const billed = Number(bill.credits);
  expect(settled <= billed && billed <= settled + held, `billed ${billed}, settled ${settled}, held ${held}`);
  expect(Object.keys(bill.billedAgain).length === 0, 'people were billed twice');
  const calls = `${attempts} attempts (${unknown} unknown), ${bill.calls} calls on the bill`;
  return `${calls}, ${settled} of ${billed} credits settled`;
}

/** Waits until the run in progress has made this many more calls. */
async function callsMade(more) {
  const count = async () => Number(await stack.query('select count(*) from enrichment.attempts'));
  let before;
  await until(`${more} further calls`, 120, async () => {
    const now = await count();
    before ??= now;
    return now >= before + more;
  });
}

/** Runs a step, and prints its duration and its result. After a step that fails, no other step runs. */
async function step(name, act) {
  const begun = performance.now();
  const said = await act();
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
  console.log(`${seconds.padStart(6)} s  ${name}${said === undefined ? '' : `: ${said}`}`);
}

function expectFinished(run, rows) {
  if (run instanceof Error) throw run;
  expect(run.status === 'finished', `the run is ${run.status}: ${run.reason}`);
  const outcomes = Object.values(run.outcomes).reduce((sum, count) => sum + count, 0);
  expect(run.rows === rows && outcomes === rows, `${rows} rows, of which ${outcomes} have an outcome`);
}

function describe({ calls, outcomes, credits }) {
  return `${calls} calls, ${outcomes.enriched} enriched, ${credits.settled} credits, ${credits.unknown} unknown`;
}

function expect(isSo, problem) {
  if (!isSo) throw new Error(problem);
}

/** Makes an export with people that no other export has. Names contain no digits, so each person gets other letters. */
function exportOf(name, rows) {
  const lines = Array.from({ length: rows }, (_, row) => {
    const domain = `${name}${row % 97}.example`;
    const lastName = String(row).replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)]);
    return `ada.${name}${row}@${domain},Ada,${name}${lastName},${domain}`;
  });
  return ['email,first_name,last_name,domain', ...lines].join('\n');
}
