import type { Limits } from '../../../src/protocol/runs/runLimits.ts'
import { counted, dollars, duration } from './amounts.ts'
import { compactTokens } from './nowLine.ts'

/** A limit of a run, and how much of it is used. */
export interface LimitUse {
  readonly limit: (typeof order)[number]
  readonly used: number
  readonly allowed: number
  /** Use in words: `12 of 60 turns`. */
  readonly words: string
}

const order = ['turns', 'tokens', 'costUsd', 'ms'] as const

const words: Readonly<Record<LimitUse['limit'], (used: number, allowed: number) => string>> = {
  turns: (used, allowed) => `${used} of ${counted(allowed, 'turn')}`,
  tokens: (used, allowed) => `${compactTokens(used)} of ${compactTokens(allowed)} tokens`,
  costUsd: (used, allowed) => `${dollars(used)} of ${dollars(allowed)}`,
  ms: (used, allowed) => `${duration(used)} of ${duration(allowed)}`,
}

/** Returns the limits that a run has, and how much of each is used. Pure. */
export const limitUses = (limits: Limits, used: Readonly<Record<LimitUse['limit'], number>>): readonly LimitUse[] =>
  order.flatMap((limit) => {
    const allowed = limits[limit]
    return allowed === undefined
      ? []
      : [{ limit, used: used[limit], allowed, words: words[limit](used[limit], allowed) }]
  })

/** Returns the limit with the largest used share: the limit that will end the run at this rate. Pure. */
export const nearestLimit = (uses: readonly LimitUse[]): LimitUse | undefined =>
  uses.reduce<LimitUse | undefined>(
    (nearest, use) =>
      nearest === undefined || use.used / use.allowed > nearest.used / nearest.allowed ? use : nearest,
    undefined,
  )
