import type { Config } from '../../config/settings.ts';
import type { Logger } from '../../telemetry/log.ts';
import { commandChannel, urlChannel } from '../../monitoring/notification-channels.ts';
import { Notifier } from '../../monitoring/notifier.ts';
import type { Warehouse } from '../../db/database.ts';

/** Starts notifications to NOTIFY_URL and NOTIFY_COMMAND; undefined if neither is set. */
export function startNotifier({ notify }: Config, warehouse: Warehouse, log: Logger): Notifier | undefined {
  const channels = [
    ...(notify.url === undefined ? [] : [urlChannel(notify.url, notify.secret)]),
    ...(notify.command === undefined ? [] : [commandChannel(notify.command)]),
  ];
  if (channels.length === 0) return undefined;
  const notifier = new Notifier({ warehouse, channels, events: notify.on, log });
  notifier.start();
  return notifier;
}
