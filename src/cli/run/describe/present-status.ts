export { isCommandPresent } from '../run-status.ts';
