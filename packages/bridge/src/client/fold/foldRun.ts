import type { AgentEvent, EventOf } from '../../../../../src/protocol/events.ts'
import { answerIn, answerText, resultOf } from '../../../../../src/protocol/runs/run.ts'
import { readJson } from '../../../../../src/protocol/checks/readOutput.ts'
import { unwrapped } from '../../../../../src/protocol/checks/strictOutput.ts'
import type { RunStopReason } from '../../../../../src/protocol/records.ts'
import type { RunResult } from '../../../../../src/protocol/runs/runResult.ts'

/** Latest progress of a running tool. */
export interface RunProgress {
  readonly callId: string
  readonly name: string
  readonly progress: unknown
}

/** State of a run. Plain data; unchanged parts stay the same object. */
export interface RunView<Output = unknown> {
  readonly runId: string
  /** Request id of the prompt that began the run. */
  readonly requestId: string
  /** Status of the run: `running`, or its outcome. */
  readonly status: 'running' | RunStopReason
  /** Text of the growing reply, or of the last one. */
  readonly text: string
  /** Progress of the running tools, the oldest call first. */
  readonly progress: readonly RunProgress[]
  /** Result of the run, once it has ended. */
  readonly result?: RunResult<Output>
}

/** A run with the fields that the fold needs. `isAnswer` is true if the text of the last reply is an answer that matches the agent's schema. */
interface Draft extends RunView {
  readonly isAnswer: boolean
  /** Data of the call whose result is the run's text. */
  readonly data?: unknown
}

type Fold = { readonly [T in AgentEvent['type']]?: (run: Draft, event: EventOf<T>) => Draft }

/** Returns the current or last run after one more event of its agent; `null` before the first. Pass only the agent's own events, in order. Pure. */
export function foldRun(run: RunView | null, event: AgentEvent): RunView | null {
  if (event.type === 'agent.created') return null
  if (event.type === 'run.start') return begun(run, event)
  const handle =
    run === null ? undefined : (handlers[event.type] as ((run: RunView, event: AgentEvent) => Draft) | undefined)
  return handle?.(run!, event) ?? run
}

const begun = (before: RunView | null, { runId, requestId, resumedFrom }: EventOf<'run.start'>): Draft => ({
  runId,
  requestId,
  status: 'running',
  // The answer may be there already.
  text: before !== null && before.runId === resumedFrom ? before.text : '',
  isAnswer: before !== null && before.runId === resumedFrom && (before as Draft).isAnswer,
  progress: [],
})

/** Returns the run with the answer that an event carries, if it carries one. */
function answered(run: Draft, event: AgentEvent): Draft {
  const said = answerIn(event)
  if (said === undefined) return run
  const { data: _, ...rest } = run
  return { ...rest, ...said }
}

const withoutProgress = (run: Draft, { callId }: { readonly callId: string }): Draft =>
  run.progress.some((one) => one.callId === callId)
    ? { ...run, progress: run.progress.filter((one) => one.callId !== callId) }
    : run

const handlers: Fold = {
  'reply.start': (run) => ({ ...run, text: '', isAnswer: false }),
  'reply.reset': (run) => ({ ...run, text: '', isAnswer: false }),
  'reply.delta': (run, { offset, text }) => ({ ...run, text: run.text.slice(0, offset) + text }),
  'reply.end': answered,
  'tool.progress': (run, { callId, name, progress }) => {
    const report = { callId, name, progress }
    const at = run.progress.findIndex((other) => other.callId === callId)
    return { ...run, progress: at === -1 ? [...run.progress, report] : run.progress.with(at, report) }
  },
  'tool.end': (run, event) => withoutProgress(answered(run, event), event),
  // One in the background goes on after its receipt, perhaps into the next run.
  'call.reported': withoutProgress,
  'run.end': (run, end) => {
    const { stopReason, turns, childTurns = 0, usage, costUsd, reason, error, refusal } = end
    const totals = { text: run.text, runId: run.runId, turns, childTurns, usage, costUsd }
    const answer = run.isAnswer ? readJson(answerText(run)) : undefined
    const why = { reason, error, refusal, ...(answer === undefined ? {} : { output: unwrapped(answer.value) }) }
    return { ...run, status: stopReason, progress: [], result: resultOf(totals, stopReason, why) }
  },
  'run.abandoned': (run, { runId }) => {
    if (run.result === undefined || run.runId !== runId) return run
    const { text, turns, childTurns, usage, costUsd } = run.result
    const result = resultOf({ text, runId, turns, childTurns, usage, costUsd }, 'aborted', {})
    return { ...run, status: 'aborted', result }
  },
}
