import type { PartDraft } from '../../machines/partStates.ts'
import type { InnerDecision, InnerRequest } from '../../protocol/parts/inner/innerDecisions.ts'
import type { Spent } from '../../protocol/records.ts'
import type { z } from 'zod'

/** A call that a running call makes. */
export interface InnerCall {
  /** Number of the call among those that the running call makes, from 1. */
  readonly n: number
  readonly name: string
  readonly input: unknown
  /** Digest of the arguments. */
  readonly print: string
  /** Time at which the running call began, in epoch milliseconds, as its code saw it. */
  readonly begun: number
  /** Maximum length of the result as JSON. */
  readonly maxChars: number
  /** Returns the result, or throws, instead of a tool. For work without effects, such as a search for tools. */
  readonly own?: () => unknown
  /** Returns the time until which the call sleeps, in epoch milliseconds, instead of a tool. Throws if the time is invalid. */
  readonly due?: (now: number) => number
}

/** Recorded result of such a call: JSON, or an error. */
export interface InnerResult {
  readonly n: number
  /** Time of the record, in epoch milliseconds. */
  readonly at: number
  readonly value?: unknown
  readonly error?: { readonly message: string; readonly code?: string }
}

/** Makes calls of tools for a running call, with everything that a model's calls have: hooks, approvals, records, undo. */
export interface InnerCalls {
  readonly key: string
  /** Calls that an earlier attempt started, if the running call runs again. */
  readonly starts: readonly Pick<InnerCall, 'n' | 'name' | 'print' | 'begun'>[]
  /** Resolves with the earlier results, in the order of their records. Rejects if one of them is no longer kept. */
  ends(): Promise<readonly InnerResult[]>
  /** `begun` of the earlier calls. */
  readonly begun: number | undefined
  /** Returns the digest of arguments, in the form that records have. */
  print(input: unknown): string
  /** Ends the sleeps, because nothing waits for them any more. */
  over(): void
  /** Takes all the output printed so far, which the model is shown if the call has no result; `undefined`: it has one. */
  printed(text: string | undefined): void
  /** Tells whether the code of the call can do nothing without a result. While it only sleeps, the call is ended and runs again at the time. */
  idle(isIdle: boolean): void
  /**
   * Makes a call, or continues one that was cut off, if allowed. `ended` is called with the result, in the order of the records. Resolves
   * once it is durable, or without a result for a sleep that nothing waits for. Rejects when the running call is aborted or the store fails.
   */
  call(call: InnerCall, ended: (result: InnerResult) => void): Promise<void>
  /**
   * Asks people about an action of the running call elsewhere, or takes their earlier decision about the same action.
   * The time of the running call stands still. Rejects when the running call is aborted.
   */
  approve(asked: Omit<InnerRequest, 'callId' | 'key'>): Promise<Omit<InnerDecision, 'key' | 'asked'>>
  /**
   * Asks people, as `ToolContext.ask` does, but regardless of earlier questions. `isAgain`: an earlier attempt of the
   * call may have asked this as its last question, whose answer is then taken.
   */
  ask<Schema extends z.ZodType>(schema: Schema, question: string, isAgain: boolean): Promise<z.output<Schema>>
  /** Adds records, and resolves once they are durable. */
  record(records: readonly PartDraft[]): Promise<void>
  /** Reports all that the running call has used elsewhere so far, which counts towards the run. The last report counts. */
  used(spent: Spent): void
}
