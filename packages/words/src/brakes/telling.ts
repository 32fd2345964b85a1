import type { Economics } from '../../../../src/protocol/economics.ts'
import type { Logger } from '../../../../src/protocol/ports/logger.ts'

/** Helpers for describing brakes: counting, shortening, leaving out. */
export interface Telling {
  readonly counted: (count: number, noun: string) => string
  readonly short: (text: string) => string
  readonly saved: (economics: Economics | undefined) => string
}

/** A line of a log. */
export interface Narrated {
  readonly level: keyof Logger
  readonly message: string
  readonly fields: { readonly [name: string]: unknown }
}

/** Returns the reason why a revert or prune was refused; `undefined` if it quotes text that the model wrote for a step. */
export const plainReason = (reason: string | undefined): string | undefined =>
  reason?.includes('"') === true ? undefined : reason
