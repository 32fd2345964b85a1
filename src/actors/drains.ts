import { fromPromise } from 'xstate'
import type { DrainInput } from '../machines/agentTypes.ts'

/** The effects of `draining`. No queue exists for them yet, so there is nothing to apply. */
export const drainReverts = fromPromise<null, DrainInput>(async () => null)
export const drainPrunes = fromPromise<null, DrainInput>(async () => null)
