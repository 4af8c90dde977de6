import { Problem } from '../../domain/problem.ts';
import { isWorkflowGone } from '../../temporal/connection.ts';
import type { Session } from '../session/session.ts';

/**
 * The page of Temporal's UI that says how a run is and why it waits, and when an embedded UI is there. The embedded
 * server keeps its ports, so that `enrich dev` brings the page back.
 *
 * @returns undefined where no UI is known, Temporal does not answer, or has no workflow of the run any more
 */
export async function runPage(session: Session, runId: string): Promise<string | undefined> {
  const { uiUrl, namespace, embedded } = session.stack.temporal;
  if (uiUrl === undefined) return undefined;
  try {
    const { workflow } = await session.temporal();
    // Without the id of an execution the UI opens the history.
    const { runId: executionId } = await workflow.getHandle(runId).describe();
    const page = `${uiUrl}/namespaces/${namespace}/workflows/${runId}/${executionId}/user-metadata`;
    return `${embedded ? 'while this command or enrich dev runs, ' : ''}watch it: ${page}`;
  } catch (error) {
    if (isWorkflowGone(error) || error instanceof Problem) return undefined;
    throw error;
  }
}
