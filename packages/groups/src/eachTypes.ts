import type { ErrorInfo } from '../../../src/protocol/errors.ts'
import type { Limits } from '../../../src/protocol/runs/runLimits.ts'
import type { Content } from '../../../src/protocol/text/saidContent.ts'
import type { AnsweredRun, RunResult } from '../../../src/protocol/runs/runResult.ts'
import type { GroupSpent } from './branch.ts'

export interface EachOptions<Input = unknown, Deps = unknown> {
  /** The question about an input, called when its turn comes; may be left out where inputs are texts. If it throws, that input has failed. */
  readonly prompt?: ((input: Input, index: number) => Content | Promise<Content>) | undefined
  /**
   * Names an input for good, also in the next process: a question under a known key is not asked again. The agent of an input has the id `<name
   * of the definition>-<key>`. Default: a digest of the input, so that a changed input is another one.
   */
  readonly key?: ((input: Input, index: number) => string | number) | undefined
  /** Number of agents that run at once. Default 8. */
  readonly concurrency?: number | undefined
  /**
   * Limit for the usage of all inputs together, including that in earlier processes. Once it is used up, no further
   * input is begun, and those under way are finished. The budget can thus be exceeded by the usage of `concurrency`
   * runs: `limits` bounds each. The rest of another batch's budget may be given, even if it is nothing.
   */
  readonly budget?: { readonly costUsd?: number | undefined; readonly tokens?: number | undefined } | undefined
  /**
   * Tries again inputs that failed or were paused in an earlier call. Default `false`: their result is the stored one. An aborted run is no
   * result.
   */
  readonly retry?: boolean | undefined
  /** Limits for each run, overriding those of the definition. */
  readonly limits?: Limits | undefined
  /** Dependencies (`deps`) of every agent. */
  readonly deps?: Deps | undefined
  /** Ends the batch: current agents are released as they are, without a record in their logs, and continue the next time. */
  readonly signal?: AbortSignal | undefined
}

/** An input with its place. */
export interface EachPlace<out Input = unknown> {
  readonly index: number
  readonly key: string
  readonly input: Input
  /** Id of the input's agent, and of its session. */
  readonly agentId: string
}

/** The outcome of one input, told apart by `status`. `left`: it has not been answered yet. */
export type EachItem<Input = unknown, Output = unknown> = EachPlace<Input> &
  (
    | {
        readonly status: 'ok'
        /** The answer as data; `undefined` for a definition without an `output` schema. */
        readonly output: Output
        readonly text: string
        readonly result: AnsweredRun<Output>
        readonly error?: undefined
      }
    | {
        readonly status: 'failed'
        readonly error: ErrorInfo
        /** Result of the input's run, if it had one. */
        readonly result?: RunResult<Output> | undefined
        readonly output?: undefined
      }
    | { readonly status: 'left'; readonly error?: undefined; readonly output?: undefined }
  )

/** Progress of a batch, reported each time that an input is done. */
export interface EachProgress<Input = unknown, Output = unknown> extends GroupSpent {
  /** The item that has just ended: `ok` or `failed`. */
  readonly item: EachItem<Input, Output>
  readonly total: number
  /** Number of inputs that are done, including failed ones. */
  readonly done: number
  readonly failed: number
  /** Number of done inputs that had been asked before, in an earlier call or process. */
  readonly stored: number
}

export interface EachResult<out Input = unknown, out Output = unknown> extends GroupSpent {
  /** Items in the order of the inputs, one for each. */
  readonly items: readonly EachItem<Input, Output>[]
  /** Unanswered inputs, with which the same call continues. */
  readonly left: readonly EachPlace<Input>[]
  /** Reason why the batch ended early: its budget is used up, its signal was aborted, or the runtime was closed. `null`: all inputs are done. */
  readonly stopped: 'budget' | 'aborted' | 'closed' | null
}

/** A batch under way: iterate over its progress, which begins with the first input that was done, however late; or only await its result. */
export interface Each<Input = unknown, Output = unknown> extends AsyncIterable<EachProgress<Input, Output>> {
  /** The result of the batch. Never rejects. */
  readonly result: Promise<EachResult<Input, Output>>
}
