import type { ConnectionOptions } from '@temporalio/client';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type Call = ReturnType<Interceptor>;

/** gRPC's code of a cancelled call. */
const cancelled = 1;

/**
 * Ends a call whose retry is due after the connection was closed. Must come after the interceptor that retries calls.
 * Otherwise gRPC throws in the timer of the retry, where no caller can catch the error, and the stopping process
 * crashes.
 */
export const endCallsOfClosedConnection: Interceptor = (options, nextCall) => {
  try {
    return nextCall(options) as Call;
  } catch {
    return deadCall as unknown as Call;
  }
};

const deadCall: ReturnType<Parameters<Interceptor>[1]> = {
  start(metadata, listener) {
    const details = 'the connection to Temporal is closed';
    process.nextTick(() => {
      listener?.onReceiveMessage?.(null);
      listener?.onReceiveStatus?.({ code: cancelled, details, metadata });
    });
  },
  sendMessage: () => {},
  sendMessageWithContext: () => {},
  startRead: () => {},
  halfClose: () => {},
  cancelWithStatus: () => {},
  getPeer: () => '',
  getAuthContext: () => null,
};
