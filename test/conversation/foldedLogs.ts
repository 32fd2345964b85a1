import type { Conversation } from '../../src/conversation/tree/conversation.ts'
import { defaultFoldPolicy, type FoldPolicy } from '../../src/conversation/brakes/fold/planFold.ts'
import { BrakeLog } from '../support/brakeLog.ts'

/** Folds often, in logs of a few hundred short steps. */
export const policy: FoldPolicy = {
  ...defaultFoldPolicy,
  leastRequests: 0,
  work: 1_500,
  minBatch: 1_500,
  keepSteps: 5,
  indexTokens: 0,
  cap: 12_000,
}

export const started = (): BrakeLog => {
  const log = new BrakeLog()
  log.user('the task')
  return log
}

export const spansOf = (conversation: Conversation) => conversation.annotations?.hidden.spans ?? []
