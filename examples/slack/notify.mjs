// Posts notifications of enrich to a Slack channel: SLACK_WEBHOOK_URL is the URL of an incoming webhook.
//   NOTIFY_COMMAND='node examples/slack/notify.mjs' NOTIFY_ON=failed,job_change enrich worker
import { json } from 'node:stream/consumers';

const event = await json(process.stdin);
const response = await fetch(process.env.SLACK_WEBHOOK_URL, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ text: textOf(event).replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`) }),
  signal: AbortSignal.timeout(10_000),
});
// A failed command makes enrich try again later, such as after a 429.
process.exitCode = response.ok ? 0 : 1;

function textOf({ event: kind, contacts, name, from_organization: from, to_organization: to, ...rest }) {
  if (kind === 'job_change') {
    const keys = contacts.map(({ source, contact_id: id }) => `${source} ${id}`).join(', ');
    return name ? `${name} (${keys}) moved from ${from} to ${to}` : `A contact changed employer: ${keys}`;
  }
  if (kind === 'budget') return `Budget ${rest.budget}: ${rest.used} of ${rest.limit} credits are used`;
  return [`${rest.run_id ?? rest.schedule}: ${kind}`, rest.reason, rest.next].filter(Boolean).join('\n');
}
