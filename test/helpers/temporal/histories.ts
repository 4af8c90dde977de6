import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { temporal } from '@temporalio/proto';
import { expect } from 'vitest';

type History = temporal.api.history.v1.IHistory;

const project = fileURLToPath(new URL('../../..', import.meta.url));
const folder = join(project, 'test/histories');

/**
 * Records the histories of workflows by kind, under the name of the running test, if `RECORD_HISTORIES` is set. Each
 * release records its histories once, and they never change afterwards: newer code must replay them.
 */
export async function recordHistories(
  client: Client,
  workflows: Readonly<Record<string, string>>,
): Promise<void> {
  const release = process.env['RECORD_HISTORIES'];
  if (!release) return;
  mkdirSync(folder, { recursive: true });
  const test = (expect.getState().currentTestName ?? 'run')
    .split(' > ')
    .at(-1)!
    .replace(/[^a-z0-9]+/gi, '-');
  for (const [kind, workflowId] of Object.entries(workflows)) {
    const history = await client.workflow
      .getHandle(workflowId)
      .fetchHistory()
      .catch(() => undefined);
    if (!history) continue;
    const file = join(folder, `${release}.${kind}.${test.slice(0, 60)}.json`);
    // Error stacks in a history contain file paths; the folder of this clone is removed from them.
    writeFileSync(file, historyToJSON(history).replaceAll(project, ''));
  }
}

/** All recorded histories, with the ids of their workflows. */
export function recordedHistories(): { name: string; history: History }[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => ({
      name: basename(file, '.json'),
      history: historyFromJSON(JSON.parse(readFileSync(join(folder, file), 'utf8'))),
    }));
}
