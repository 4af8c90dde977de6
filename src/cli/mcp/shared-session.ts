import { once } from 'node:events';
import type { Config } from '../../config/settings.ts';
import { onFirstInterruption } from '../../dev/interruption.ts';
import { describeSessionFailure, withSession, type Session, type SessionNeeds } from '../session/session.ts';

export type SharedSession = ReturnType<typeof createSharedSession>;

/** Shares one session among tool calls. The session opens at the first call and closes after `stop`. */
export function createSharedSession(config: Config, needs: SessionNeeds, stop: AbortController) {
  const work = new Set<Promise<unknown>>();
  let session: Promise<Session> | undefined;
  let closed: Promise<unknown> = Promise.resolve();
  const open = () =>
    new Promise<Session>((resolve, reject) => {
      closed = withSession(config, needs, async (opened) => {
        // A signal calls only the newest handler, so this handler is added after those of the embedded servers.
        onFirstInterruption(() => stop.abort());
        resolve(opened);
        if (!stop.signal.aborted) await once(stop.signal, 'abort');
        await Promise.allSettled(work);
      }).catch((error: unknown) => {
        // The session fails if an embedded server has ended. The next use then opens another session.
        session = undefined;
        reject(error);
      });
    });
  return {
    closed: () => closed,
    use: async <Result>(task: (session: Session) => Promise<Result>): Promise<Result> => {
      const opened = await (session ??= open());
      const working = task(opened).catch(async (error: unknown) => {
        throw await describeSessionFailure(error, opened, needs);
      });
      work.add(working);
      return working.finally(() => work.delete(working));
    },
  };
}
