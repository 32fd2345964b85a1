import { fromPromise } from 'xstate'
import type { DrainInput, DrainOutput } from '../machines/agentTypes.ts'

/** The effects of `draining`. No queue exists for them yet, so there is nothing to apply. */
export const drainReverts = fromPromise<DrainOutput, DrainInput>(async ({ input: { key } }) => ({ key }))
export const drainPrunes = fromPromise<DrainOutput, DrainInput>(async ({ input: { key } }) => ({ key }))
