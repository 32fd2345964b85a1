import type { PartDraft } from '../../machines/partStates.ts'
import type { InnerDecision, InnerRequest } from '../../protocol/parts/inner/innerDecisions.ts'
import type { Spent } from '../../protocol/records.ts'
import type { z } from 'zod'

/** A call that a running call makes. */
export interface InnerCall {
  /** Place among the calls that it makes, from 1. */
  readonly n: number
  readonly name: string
  readonly input: unknown
  /** Digest of the arguments. */
  readonly print: string
  /** Epoch milliseconds at which the running call began, as what it runs saw them. */
  readonly begun: number
  /** Maximum length of the result as JSON. */
  readonly maxChars: number
  /** Returns the result, or throws, in place of a tool: for what is no effect, such as a search of tools. */
  readonly own?: () => unknown
  /** Returns the time until which it sleeps, in epoch milliseconds, in place of a tool. Throws for one that is no good. */
  readonly due?: (now: number) => number
}

/** Result of such a call as it is on record: JSON, or an error. */
export interface InnerResult {
  readonly n: number
  /** Epoch milliseconds. */
  readonly at: number
  readonly value?: unknown
  readonly error?: { readonly message: string; readonly code?: string }
}

/** Calls of tools that a running call makes, with everything that calls of a model have: hooks, approvals, records, undo. */
export interface InnerCalls {
  readonly key: string
  /** Calls that were started before, when the running call runs again. */
  readonly starts: readonly Pick<InnerCall, 'n' | 'name' | 'print' | 'begun'>[]
  /** Resolves with the results of before, in the order of their records. Rejects if one of them is no longer kept. */
  ends(): Promise<readonly InnerResult[]>
  /** `begun` of the calls of before. */
  readonly begun: number | undefined
  /** Returns the digest of arguments, as those on record have it. */
  print(input: unknown): string
  /** Nothing waits for sleeps any more. */
  over(): void
  /** Takes all that was printed so far, which the model is shown if the call comes to no result; `undefined`: it comes to one. */
  printed(text: string | undefined): void
  /** Told whether what the call runs does nothing until it is given a result: while it only sleeps, the call is ended and runs again at the time. */
  idle(isIdle: boolean): void
  /**
   * Makes a call, or goes on with one that was cut off, if it may. `ended` is called with the result, in the order in which results are recorded.
   * Resolves once it is durable, or without a result for a sleep that nothing waits for; rejects when the running call is aborted and when the store fails.
   */
  call(call: InnerCall, ended: (result: InnerResult) => void): Promise<void>
  /**
   * Asks people about something that the running call has done elsewhere, or takes their decision of before about the same. The time of the running
   * call stands still. Rejects when the running call is aborted.
   */
  approve(asked: Omit<InnerRequest, 'callId' | 'key'>): Promise<Omit<InnerDecision, 'key' | 'asked'>>
  /**
   * Asks people, as `ToolContext.ask` does, but whatever was asked before. `isAgain`: an earlier life of the call may have asked it as its last question;
   * then the answer is taken that it got.
   */
  ask<Schema extends z.ZodType>(schema: Schema, question: string, isAgain: boolean): Promise<z.output<Schema>>
  /** Makes records, and resolves once they are durable. */
  record(records: readonly PartDraft[]): Promise<void>
  /** Says what the running call has used elsewhere so far, which counts towards the run; the last counts. */
  used(spent: Spent): void
}
