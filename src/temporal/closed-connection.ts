import type { ConnectionOptions } from '@temporalio/client';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type Call = ReturnType<Interceptor>;

/** gRPC's code for a call that the caller has cancelled. */
const cancelled = 1;

/**
 * Below the interceptor that tries calls again: a try that is due after the connection was closed ends its call.
 * Without it gRPC throws out of the timer of that try, where no caller can catch it, and the stopping process dies of
 * it.
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
