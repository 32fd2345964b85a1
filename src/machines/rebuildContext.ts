import { isImported } from '../protocol/text/nodeIds.ts'
import type { LogRecord } from '../protocol/records.ts'
import type { AgentContext, LoggedContext } from './agentTypes.ts'
import { endAll, foldRecord } from './contextFold.ts'
import { FoldedCalls } from './foldedCalls.ts'
import { nothingPaused } from './limits.ts'
import { isEnding } from './foreign.ts'
import { noPartStates } from './partStates.ts'

/** Parts of a context that are folded from the log. The rest comes from the conversation or starts afresh. */
export interface FoldedContext extends LoggedContext, Pick<AgentContext, 'seq' | 'now' | 'heldAt'> {
  /** True if the newest records came with a file from another party, or end work left open there: nothing has begun here since. */
  readonly foreign: boolean
}

const empty: FoldedContext = {
  seq: 0,
  runs: 0,
  turns: 0,
  isTurnOpen: false,
  owesReply: false,
  endedBy: null,
  run: null,
  frame: null,
  ...nothingPaused,
  failedRun: null,
  calls: [],
  children: 0,
  reporters: [],
  now: 0,
  heldAt: 0,
  isCompacting: false,
  compactions: 0,
  repliedAt: null,
  parts: noPartStates,
  consulting: null,
  undoing: null,
  foreign: false,
}

/** State folded from a log so far, as plain JSON. */
export interface KeptContext {
  readonly context: FoldedContext
  /** True if the agent's calls wait for people. */
  readonly isHeld: boolean
}

/** Folds the context of an agent, record by record. `kept`: the state from which to continue, copied when the first record comes. */
export class ContextFold {
  #state: { -readonly [K in keyof FoldedContext]: FoldedContext[K] }
  #calls: FoldedCalls | undefined
  /** True if nothing is running, and the run's wall time is stopped, because calls wait for people. */
  #isHeld: boolean

  constructor(kept: KeptContext = { context: empty, isHeld: false }) {
    this.#state = kept.context
    this.#isHeld = kept.isHeld
  }

  /** Sequence number of the last record. */
  get seq(): number {
    return this.#state.seq
  }

  /** Copy of the context, which later records do not change. */
  get context(): FoldedContext {
    return { ...this.#state, calls: [...(this.#calls?.list ?? this.#state.calls)] }
  }

  keep(): KeptContext {
    return { context: this.context, isHeld: this.#isHeld }
  }

  #begin(): FoldedCalls {
    this.#state = { ...this.#state }
    return new FoldedCalls(this.#state.calls)
  }

  apply(record: LogRecord): void {
    const calls = (this.#calls ??= this.#begin())
    const state = this.#state
    const foreign = record.foreign === true || (state.foreign && isEnding(record))
    if (state.foreign && !foreign) endAll(state, calls)
    // The messages that an agent began with were never a run of its own.
    const isHistory = 'runId' in record && isImported(record)
    const now = record.type === 'agent.created' ? state.now : record.time
    if (!isHistory) foldRecord(state, record, calls, now)
    const { heldAt } = state
    Object.assign(state, { seq: record.seq, now: record.time, heldAt: record.time, foreign })
    const wasHeld = this.#isHeld
    this.#isHeld = state.run !== null && calls.isHeld
    if (wasHeld && this.#isHeld) state.heldAt = heldAt
    else if (wasHeld) this.#release(heldAt)
  }

  /** Resumes the wall time, extended by as long as it was stopped. */
  #release(heldAt: number): void {
    const { run, now } = this.#state
    if (run !== null && run.deadline !== null)
      this.#state.run = { ...run, deadline: run.deadline + Math.max(0, now - heldAt) }
  }
}

/** Folds a log; for a fork, the past it shares with its source comes first. */
export function foldContext(records: Iterable<LogRecord>, past: Iterable<LogRecord> = []): ContextFold {
  const folding = new ContextFold()
  for (const part of [past, records]) for (const record of part) folding.apply(record)
  return folding
}

/** Folds a log into its machine's context at the last record; for a fork, the past shared with its source comes first. Pure. */
export const rebuildContext = (records: Iterable<LogRecord>, past: Iterable<LogRecord> = []): FoldedContext =>
  foldContext(records, past).context
