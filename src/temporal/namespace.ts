import type { Connection } from '@temporalio/client';

/** Numbers of these types in Temporal's interface (`IndexedValueType`). */
const typeNumbers = { Text: 1, Keyword: 2, Int: 3, Double: 4, Bool: 5, Datetime: 6 } as const;

/** Search attributes by name, with their types as Temporal's UI shows them. */
export type SearchAttributeTypes = Readonly<Record<string, keyof typeof typeNumbers>>;

const connectSeconds = 5;

/** Whether a Temporal server on this port of the machine answers for this namespace. */
export async function isServing(port: number, namespace: string): Promise<boolean> {
  return withConnection(`127.0.0.1:${port}`, async (connection) => {
    await connection.workflowService.describeNamespace({ namespace });
    return true;
  }).catch(() => false);
}

/** Sets the retention of a namespace unless it is longer, and adds missing search attributes. */
export async function prepareNamespace(
  address: string,
  namespace: string,
  retentionDays: number,
  searchAttributes: SearchAttributeTypes,
): Promise<void> {
  await withConnection(address, async ({ workflowService, operatorService }) => {
    const { config } = await workflowService.describeNamespace({ namespace });
    const retention = retentionDays * 86_400;
    if (Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) < retention) {
      const { msToTs } = await import('@temporalio/common/lib/time.js');
      await workflowService.updateNamespace({
        namespace,
        config: { workflowExecutionRetentionTtl: msToTs(retention * 1000) },
      });
    }
    await addSearchAttributes(operatorService, namespace, searchAttributes);
  });
}

export async function addSearchAttributes(
  operatorService: Connection['operatorService'],
  namespace: string,
  searchAttributes: SearchAttributeTypes,
): Promise<void> {
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const missing = Object.entries(searchAttributes).filter(([name]) => !(name in (customAttributes ?? {})));
  if (missing.length === 0) return;
  await operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(missing.map(([name, type]) => [name, typeNumbers[type]])),
  });
}

async function withConnection<Result>(
  address: string,
  use: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  // Loaded only here, because loading takes longer than a command without Temporal.
  const { Connection } = await import('@temporalio/client');
  // Not Connection.connect: after a failure its channel keeps trying in the background.
  const connection = Connection.lazy({ address, connectTimeout: connectSeconds * 1000 });
  try {
    await connection.ensureConnected();
    return await connection.withDeadline(Date.now() + connectSeconds * 1000, () => use(connection));
  } finally {
    await connection.close();
  }
}
