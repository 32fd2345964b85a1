import type { ErrorInfo } from '../protocol/errors.ts'
import type { AgentEvent } from '../protocol/events.ts'
import { noUsage, textOf, type Usage } from '../protocol/messages.ts'
import type { LogRecord, PauseReason, RecordOf, RunStopReason } from '../protocol/records.ts'
import { EventBuffer } from './eventBuffer.ts'

/** How a run ended. A failed model is a result, never a rejection. */
export interface RunResult {
  readonly stopReason: RunStopReason
  /** The text of the last reply. */
  readonly text: string
  /** The answer as data, when the agent has an `output` schema and the run ended with `stop`. */
  readonly output?: unknown
  /** Empty if the run never started. */
  readonly runId: string
  /** The agent's own model turns in this run. */
  readonly turns: number
  /** Model turns of the sub-agents it called; together with `turns` they count towards `limits.turns`. */
  readonly childTurns: number
  /** Of the run and of the sub-agents that it called. */
  readonly usage: Usage
  /** Cost of everything in `usage`, in US dollars; 0 without prices. */
  readonly costUsd: number
  /** Why the run paused. */
  readonly reason?: PauseReason
  readonly error?: ErrorInfo
}

/**
 * One run: its events as they happen, and its result. You may ignore either. Iterating late starts with what is buffered; leaving
 * the loop early does not stop the run.
 */
export interface Run extends AsyncIterable<AgentEvent> {
  /** Id of the request that started the run; its `run.start` event has it too. */
  readonly requestId: string
  /** Never rejects. */
  readonly result: Promise<RunResult>
}

/** The outcome of a run, from its records. */
export class RunOutcome {
  readonly requestId: string
  readonly result: Promise<RunResult>
  #resolve!: (result: RunResult) => void
  #text = ''
  #runId = ''
  #hasReply = false

  constructor(requestId: string) {
    this.requestId = requestId
    this.result = new Promise((resolve) => (this.#resolve = resolve))
  }

  /** Notes what the result is made from. */
  note(happened: AgentEvent | LogRecord): void {
    if (happened.type === 'run.start') this.#runId = happened.runId
    else if (happened.type === 'reply.end') {
      this.#text = textOf(happened.message.content)
      this.#hasReply = true
    }
  }

  /** `lastText`: of the reply before the run; one that resumes after a crash may find its answer already given. */
  finish(
    end: RecordOf<'run.end'>,
    { parse, lastText }: { parse(text: string): { output?: unknown }; lastText(): string },
    failure?: ErrorInfo,
  ): void {
    const { stopReason, turns, childTurns = 0, usage, costUsd, reason, error } = end
    if (!this.#hasReply && stopReason === 'stop') this.#text = lastText()
    this.#resolve({
      stopReason: failure === undefined ? stopReason : 'paused',
      text: this.#text,
      ...(stopReason === 'stop' ? parse(this.#text) : {}),
      runId: this.#runId,
      turns,
      childTurns,
      usage,
      costUsd,
      ...(reason === undefined ? {} : { reason }),
      ...(failure === undefined ? (error === undefined ? {} : { error }) : { error: failure }),
    })
  }

  /** Ends a run that never started, or whose agent died. */
  cancel(stopReason: RunStopReason, error?: ErrorInfo): void {
    const spent = { turns: 0, childTurns: 0, usage: noUsage, costUsd: 0 }
    const outcome = { stopReason, text: this.#text, runId: this.#runId, ...spent }
    this.#resolve(error === undefined ? outcome : { ...outcome, error })
  }
}

/** The runtime's side of a `Run`: its events too. */
export class RunHandle extends RunOutcome implements Run {
  readonly #buffer = new EventBuffer()

  push(event: AgentEvent): void {
    this.note(event)
    this.#buffer.push(event)
    if (event.type === 'run.end') this.#buffer.close()
  }

  [Symbol.asyncIterator](): AsyncIterator<AgentEvent> {
    return this.#buffer
  }

  override cancel(stopReason: RunStopReason, error?: ErrorInfo): void {
    this.#buffer.close()
    super.cancel(stopReason, error)
  }
}
