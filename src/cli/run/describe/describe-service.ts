export { describeService } from '../../session/with-service.ts';
