import { knowsService, serviceName } from '../../config/settings.ts';
import { sandbox } from '../../domain/runs/asked-service.ts';
import { lateKindsOf } from '../../domain/late-results/delivery-kinds.ts';
import { describeServiceStatus, readServiceStatus } from '../../calls/service/service-status.ts';
import type { RunOptions } from '../../domain/runs/run-options.ts';
import { servicesOfRuns } from '../../runs/runs.ts';
import { tell } from '../terminal/output.ts';
import type { Session } from '../session/session.ts';

import { webhookUrlOf } from '../session/servers.ts';
import { withSessionClient } from '../session/with-service.ts';

/**
 * Prints the user that the credential acts as, and what is left of the service's limits, before a run spends anything.
 * Prints nothing if only the settings of the workers name the service: the workers check it themselves.
 *
 * @param asked what the run asks for
 * @throws Problem `service.credential-refused`, `service.scope-missing`
 */
export async function checkService(session: Session, asked: RunOptions): Promise<void> {
  const { config, stack, warehouse } = session;
  if (!knowsService(config)) return;
  if (serviceName(config) !== sandbox && (await servicesOfRuns(warehouse)).includes(sandbox))
    tell(
      'note: this warehouse also has runs of the sandbox: their invented contacts stay in it, and their credits ' +
        'count in the budgets of their day and month; to begin clean, set ENRICH_DATA_DIR to a new folder, or ' +
        'DATABASE_URL to a new database',
    );
  const { baseUrl } = stack.service;
  // Workers of a server check their own receiver before the run spends anything.
  const polls =
    stack.temporal.embedded &&
    lateKindsOf(asked).length > 0 &&
    webhookUrlOf(config, baseUrl, { port: 0 }) === undefined;
  const status = await withSessionClient(session, (dependencies) =>
    readServiceStatus(dependencies, { polls }),
  );
  for (const line of describeServiceStatus(status)) tell(line);
}
