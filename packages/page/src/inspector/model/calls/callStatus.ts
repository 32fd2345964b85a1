import { stageAfter, statusOf, type CallRecord, type CallStatus } from '../../../../../../src/log/callStage.ts'

/** `denied`: a person did not allow it, and its result is still to come. */
export type ShownStatus = CallStatus | 'denied'

/** Returns the status of a call after a record of it. */
export const statusAfter = (record: CallRecord): ShownStatus =>
  record.type === 'approval.decided' && record.decision !== 'approve' && record.parentCall === undefined
    ? 'denied'
    : statusOf[stageAfter(record)]
