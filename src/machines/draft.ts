import type { NodeId } from '../protocol/ids.ts'
import type { RecordDraft } from '../protocol/records.ts'
import { recordVersion } from '../protocol/records.ts'
import type { AgentContext, CallState } from './agentTypes.ts'
import type { CallInput, HookInput, SleepInput, SubAgentInput } from './effectTypes.ts'
import type { Change, ChildCommand } from './change.ts'

type WithoutHeader<R> = R extends unknown ? Omit<R, 'v' | 'seq'> : never
/** A record without its header; records that every turn makes have a place for it. */
type RecordBody = WithoutHeader<RecordDraft> & { v?: typeof recordVersion; seq?: number }

/**
 * Spread at the end of a record that every turn makes: reserves a place for its time. A property added to a full literal is stored in an object of
 * its own, and a log keeps many; a spread anywhere else makes a literal ten times slower.
 */
export const room = {}

/** A child of an agent: a call's, or a timer. */
type AgentChild =
  | Exclude<ChildCommand, { readonly type: 'start' }>
  | { readonly type: 'start'; readonly src: 'askHook'; readonly id: string; readonly input: HookInput }
  | { readonly type: 'start'; readonly src: 'runTool'; readonly id: string; readonly input: CallInput }
  | { readonly type: 'start'; readonly src: 'subAgent'; readonly id: string; readonly input: SubAgentInput }
  | { readonly type: 'start'; readonly src: 'sleep'; readonly id: string; readonly input: SleepInput }

export const runIdOf = (agentId: string, run: number): string => `${agentId}/r${run}`

/**
 * The outcome of one transition under construction: the next context, the records it writes, the children it starts and
 * stops. The functions that fill it in are plain and pure; the chart only says when they run.
 */
export class Draft implements Change<AgentContext> {
  context: AgentContext
  readonly records: RecordDraft[] = []
  readonly children: AgentChild[] = []

  readonly #before: AgentContext
  #ownCalls: CallState[] | undefined

  constructor(context: AgentContext) {
    this.#before = context
    this.context = context
  }

  set(change: Partial<AgentContext>): void {
    // One copy a transition: a context has dozens of fields, and a transition sets some a dozen times.
    if (this.context === this.#before) this.context = { ...this.context, ...change }
    else Object.assign(this.context, change)
  }

  setRun(change: Partial<NonNullable<AgentContext['run']>>): void {
    if (this.context.run !== null) this.set({ run: { ...this.context.run, ...change } })
  }

  /** Changes a call. The calls are copied once in a transition: a reply may make a hundred. */
  setCall(index: number, change: Partial<CallState>): void {
    if (this.#ownCalls === undefined || this.#ownCalls !== this.context.calls)
      this.set({ calls: (this.#ownCalls = [...this.context.calls]) })
    this.#ownCalls[index] = { ...this.#ownCalls[index]!, ...change }
  }

  /** The body itself becomes the record: to copy every one costs a good part of a turn. */
  record(body: RecordBody): void {
    const seq = this.context.seq + 1
    body.v = recordVersion
    body.seq = seq
    this.records.push(body as RecordDraft)
    this.set({ seq })
  }

  /** `runId` and `turnIndex` of the run and turn under way, or of the next ones in between. */
  get at(): { runId: string; turnIndex: number } {
    const { agentId, run, runs, pausedRun, turns, isTurnOpen, calls } = this.context
    const runId = run?.runId ?? pausedRun ?? runIdOf(agentId, runs)
    return { runId, turnIndex: isTurnOpen || calls.length > 0 ? turns - 1 : turns }
  }

  /** The place of the next message; moves the head there. */
  place(): { nodeId: NodeId; parentId: NodeId | null } {
    const nodeId = this.context.lastNodeId + 1
    const parentId = this.context.head
    this.set({ lastNodeId: nodeId, head: nodeId })
    return { nodeId, parentId }
  }
}

interface Timed {
  readonly at?: number
  readonly output?: { readonly at?: number; readonly until?: number } | null
}

/** The time an event tells: its own, or its output's. */
const timeOf = (event: Timed): number | undefined => event.at ?? event.output?.at ?? event.output?.until

/** The draft of the transition that `event` takes, filled in by `fill`. */
export function fillDraft<E>(context: AgentContext, event: E, fill: (draft: Draft, event: E) => void): Draft {
  const draft = new Draft(context)
  const now = timeOf(event as Timed)
  if (now !== undefined) draft.set({ now })
  fill(draft, event)
  return draft
}
