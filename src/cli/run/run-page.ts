import { Problem } from '../../domain/problem.ts';
import { isWorkflowGone } from '../../temporal/connection.ts';
import type { Session } from '../session/session.ts';

/** Before the address of a page: until when it is there, if this command runs the server. */
export function howLongThePageIs({ stack }: Session): string {
  return stack.temporal.embedded ? 'until this command ends, ' : '';
}

/**
 * The page of Temporal's UI that says how a run is and why it waits.
 *
 * @returns undefined where no UI is known, Temporal does not answer, or has no workflow of the run any more
 */
export async function runPage(session: Session, runId: string): Promise<string | undefined> {
  const { uiUrl, namespace } = session.stack.temporal;
  if (uiUrl === undefined) return undefined;
  try {
    const { workflow } = await session.temporal();
    // Without the id of an execution the UI opens the history.
    const { runId: executionId } = await workflow.getHandle(runId).describe();
    return `${uiUrl}/namespaces/${namespace}/workflows/${runId}/${executionId}/user-metadata`;
  } catch (error) {
    if (isWorkflowGone(error) || error instanceof Problem) return undefined;
    throw error;
  }
}
