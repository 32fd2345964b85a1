import type { GraftsOutput, PinsOutput, PrunesOutput, RevertsOutput } from '../../src/machines/drainTypes.ts'
import type { ChildOf } from '../support/machineDriver.ts'

/** Output of a drain that refuses everything it was asked for. */
export function drained(
  { src, input }: ChildOf<'drainReverts'> | ChildOf<'drainGrafts'> | ChildOf<'drainPrunes'> | ChildOf<'drainPins'>,
  at: number,
): RevertsOutput | GraftsOutput | PrunesOutput | PinsOutput {
  const { key } = input
  if (src === 'drainPins') {
    const refuse = ({ id, step: requested, pinned }: (typeof input.requests)[number]) => ({
      id,
      applied: false,
      requested,
      pinned,
      reason: 'pin refused',
    })
    return { key, outcomes: input.requests.map(refuse), at }
  }
  if (src === 'drainGrafts') {
    const refusal = { applied: false, copies: [], reason: 'graft refused' }
    const outcomes = input.requests.map(({ id, steps: requested }) => ({ id, requested, ...refusal }))
    return { key, outcomes, contextTokens: 0, at }
  }
  if (src === 'drainPrunes') {
    const outcomes = input.requests.map(({ id }) => ({
      id,
      applied: false,
      steps: [],
      tokens: 0,
      reason: 'prune refused',
    }))
    return { key, outcomes, contextTokens: 0, at }
  }
  const outcomes = input.requests.map(({ id, ...asked }) => ({
    id,
    applied: false as const,
    category: 'category' in asked ? asked.category : 'failure',
    requested: 'step' in asked ? asked.step : '',
    reason: 'revert refused',
  }))
  return { key, outcomes, contextTokens: 0, at }
}
