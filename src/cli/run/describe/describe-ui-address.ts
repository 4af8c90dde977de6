import { Problem } from '../../../domain/problem.ts';
import { describeTemporalFailure, isWorkflowGone } from '../../../temporal/connection.ts';
import type { Session } from '../../session/session.ts';

/**
 * Says where to watch a run in Temporal's UI. The embedded server keeps its ports, so the address stays valid for
 * `enrich dev`.
 *
 * @returns undefined without a known UI, without an answer of Temporal, or without a workflow of the run
 */
export async function describeUiAddress(session: Session, runId: string): Promise<string | undefined> {
  const { uiUrl, namespace, embedded } = session.stack.temporal;
  if (uiUrl === undefined) return undefined;
  try {
    const { workflow } = await session.temporal();
    // Without the id of an execution the UI opens the history.
    const { runId: executionId } = await workflow.getHandle(runId).describe();
    const address = `${uiUrl}/namespaces/${namespace}/workflows/${runId}/${executionId}/user-metadata`;
    return `${embedded ? 'while enrich run or enrich dev runs, ' : ''}watch it: ${address}`;
  } catch (error) {
    const isProblem = describeTemporalFailure(error, session.stack.temporal) instanceof Problem;
    if (isWorkflowGone(error) || isProblem) return undefined;
    throw error;
  }
}
