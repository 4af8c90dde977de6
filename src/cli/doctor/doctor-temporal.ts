import type { Config } from '../../config/settings.ts';
import { differingSettings, markSettings } from '../../config/shared-settings.ts';
import { clientWithTimeout } from '../../db/session-settings.ts';
import { runningRecord } from '../../dev/server.ts';
import { configuredTemporal } from '../../dev/stack.ts';
import { findTemporalCli, temporalCliVersion } from '../../dev/temporal-cli.ts';
import {
  afterPlainText,
  connectClient,
  describePlainText,
  describeWorkerPoll,
  readWorkerPoll,
  type WorkerPoll,
} from '../../temporal/connection.ts';
import { payloadCodec } from '../../temporal/payload-codec.ts';
import { attention, broken, ok, type Finding } from './finding.ts';

/** Checks the connection to Temporal, its workers, and whether they and this process encrypt. */
export async function checkTemporal(config: Config): Promise<Finding[]> {
  const codec = payloadCodec(config.temporalCodec);
  if (config.temporalAddress === undefined)
    return [
      await checkEmbeddedTemporal(config),
      checkEncryption(codec.keyName, { keyNames: [], isPlain: false }),
    ];
  const temporal = await configuredTemporal(config.temporalAddress, config.temporalUiUrl);
  const client = await connectClient(temporal, codec);
  try {
    await client.connection.workflowService.describeNamespace({ namespace: temporal.namespace });
    const poll = await readWorkerPoll(client, await readClockOf(config.databaseUrl));
    const what = `${temporal.address}, namespace ${temporal.namespace}; ${describeWorkerPoll(poll)}`;
    return [
      poll.isLost ? attention('temporal', what, 'start one: enrich worker') : ok('temporal', what),
      checkEncryption(codec.keyName, poll),
      ...checkWorkerSettings(config, poll.settings),
    ];
  } catch {
    const what = `${temporal.address} answers, but namespace ${temporal.namespace} cannot be used`;
    return [broken('temporal', what, 'create it, or correct TEMPORAL_NAMESPACE and the credentials for it')];
  } finally {
    await client.connection.close();
  }
}

const answerMilliseconds = 10_000;

/** Reads the clock of a database. Without an answer, of this machine: the check of the database names the error. */
async function readClockOf(databaseUrl: string | undefined): Promise<Date> {
  if (databaseUrl === undefined) return new Date();
  const client = clientWithTimeout(databaseUrl, answerMilliseconds);
  try {
    await client.connect();
    const { rows } = await client.query<{ now: Date }>('select clock_timestamp() as now');
    return rows[0]!.now;
  } catch {
    return new Date();
  } finally {
    // Its end waits for the server.
    void client.end();
  }
}

/** Whether this process encrypts what Temporal stores, with the key of the workers. */
function checkEncryption(
  keyName: string | undefined,
  { keyNames, isPlain }: Pick<WorkerPoll, 'keyNames' | 'isPlain'>,
): Finding {
  if (keyName === undefined && keyNames.length > 0)
    return attention('encryption', describePlainText(keyNames), afterPlainText);
  if (keyName !== undefined && isPlain) {
    const what = `a worker has no key, and cannot read what this command encrypts with key "${keyName}"`;
    return attention('encryption', what, 'give every worker the keys of this command');
  }
  const what =
    keyName === undefined
      ? 'Temporal stores plain text (ids, counts, file names)'
      : `encrypts with key "${keyName}"`;
  const others = keyNames.filter((name) => name !== keyName);
  return ok('encryption', others.length === 0 ? what : `${what}; workers with ${others.join(', ')}`);
}

/** Compares the settings of live workers with each other, and with those of this command. */
function checkWorkerSettings(config: Config, ofWorkers: readonly string[]): Finding[] {
  const part = 'workers';
  const amongWorkers = differingSettings(ofWorkers);
  if (amongWorkers.length > 0) {
    const next =
      'give all workers the same settings, and restart those that differ; a worker that has stopped still counts for ' +
      'a minute';
    return [attention(part, `workers differ in ${amongWorkers.join(', ')}`, next)];
  }
  const fromCommand = differingSettings([...ofWorkers, markSettings(config)], false);
  if (fromCommand.length === 0) return [];
  const what = `the workers have other values than this command: ${fromCommand.join(', ')}`;
  return [attention(part, what, 'restart the workers after a change; or give this command their settings')];
}

async function checkEmbeddedTemporal(config: Config): Promise<Finding> {
  const cli = await findTemporalCli(config.embedded);
  if (cli === undefined) {
    const what = `no Temporal CLI: the first command downloads version ${temporalCliVersion}`;
    const next = 'run npm run setup now (some seconds), or set TEMPORAL_ADDRESS';
    return attention('temporal', what, next);
  }
  const running = runningRecord(config.embedded.directories.temporal);
  const state = running ? `running, its UI is http://127.0.0.1:${running.uiPort}` : 'not running now';
  return ok('temporal', `embedded dev server, ${cli.path} (${cli.origin}, ${cli.version}), ${state}`);
}
