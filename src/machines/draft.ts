import type { NodeId } from '../protocol/ids.ts'
import type { RecordDraft } from '../protocol/records.ts'
import { recordVersion } from '../protocol/records.ts'
import type { AgentContext, CallState, LiveCall, LiveContext, LivePause, LiveRun } from './agentTypes.ts'
import type { CallInput, HookInput, SleepInput, SubAgentInput } from './effectTypes.ts'
import type { Change, ChildCommand } from './change.ts'
import { endAll, foldRecord, type Logged } from './contextFold.ts'
import { FoldedCalls } from './foldedCalls.ts'

type WithoutHeader<R> = R extends unknown ? Omit<R, 'v' | 'seq'> : never
/** A record without its header; records that every turn makes have a place for it. */
type RecordBody = WithoutHeader<RecordDraft> & { v?: typeof recordVersion; seq?: number }

/**
 * Empty object, spread at the end of a record that every turn makes to reserve a place for its time. A property added to a full
 * literal is stored in an object of its own, and a log keeps many. A spread anywhere else makes a literal ten times slower.
 */
export const room = {}

/** Command to a child of an agent: the actor of a call, or a timer. */
type AgentChild =
  | Exclude<ChildCommand, { readonly type: 'start' }>
  | { readonly type: 'start'; readonly src: 'askHook'; readonly id: string; readonly input: HookInput }
  | { readonly type: 'start'; readonly src: 'runTool'; readonly id: string; readonly input: CallInput }
  | { readonly type: 'start'; readonly src: 'subAgent'; readonly id: string; readonly input: SubAgentInput }
  | { readonly type: 'start'; readonly src: 'sleep'; readonly id: string; readonly input: SleepInput }

export const runIdOf = (agentId: string, run: number): string => `${agentId}/r${run}`

/** Id of the current or paused run, or between runs the id of the next one. */
export const currentRunOf = ({ agentId, run, runs, pausedRun }: AgentContext): string =>
  run?.runId ?? pausedRun ?? runIdOf(agentId, runs)

type OwnContext = Omit<LiveContext, 'seq'> & Logged & { seq: number }

/**
 * The outcome of one transition under construction: the next context, the records it writes, the children it starts
 * and stops. The functions that fill it in are plain and pure; the chart only says when they run. A record changes
 * the logged part of the context, as it does when the log is read again. Everything else is set directly.
 */
export class Draft implements Change<AgentContext> {
  context: AgentContext
  readonly records: RecordDraft[] = []
  readonly children: AgentChild[] = []

  readonly #before: AgentContext
  #calls: FoldedCalls | undefined

  constructor(context: AgentContext) {
    this.#before = context
    this.context = context
  }

  /** Returns a writable context, copied once per transition: a context has dozens of fields, and a transition sets some a dozen times. */
  #own(): OwnContext {
    if (this.context === this.#before) this.context = { ...this.context }
    return this.context
  }

  #folded(): FoldedCalls {
    return (this.#calls ??= new FoldedCalls(this.context.calls))
  }

  set(change: Partial<LiveContext>): void {
    if (this.context === this.#before) this.context = { ...this.context, ...change }
    else Object.assign(this.context, change)
  }

  setRun(change: Partial<LiveRun>): void {
    const context = this.#own()
    if (context.run !== null) context.run = { ...context.run, ...change }
  }

  callAt(index: number): CallState {
    return this.#folded().at(index)!
  }

  /** Changes a call. The calls are copied once per transition, because a reply may make a hundred. */
  setCall(index: number, change: Partial<LiveCall>): void {
    const calls = this.#folded()
    calls.put(index, { ...calls.at(index)!, ...change })
    this.#own().calls = calls.list
  }

  /** Pauses the chart, or ends its pause. */
  setPause(pause: LivePause | null): void {
    this.#own().pause = pause
  }

  /** Adds a record. The body itself becomes the record, because copying every one would cost a good part of a turn. */
  record(body: RecordBody): void {
    const context = this.#own()
    context.seq += 1
    body.v = recordVersion
    body.seq = context.seq
    this.records.push(body as RecordDraft)
    foldRecord(context, body as RecordDraft, this.#folded(), context.now)
  }

  /** Ends everything left open in the past of another party, as the fold does with the next record. */
  endPast(): void {
    const context = this.#own()
    endAll(context, this.#folded())
    context.calls = this.#folded().list
  }

  /** `runId` and `turnIndex` of the current run and turn, or between them of the next ones. */
  get at(): { runId: string; turnIndex: number } {
    const { turns, isTurnOpen, calls } = this.context
    return { runId: currentRunOf(this.context), turnIndex: isTurnOpen || calls.length > 0 ? turns - 1 : turns }
  }

  /** Returns the place of the next message, and moves the head there. */
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

/** Returns the time that an event or its output carries. */
const timeOf = (event: Timed): number | undefined => event.at ?? event.output?.at ?? event.output?.until

/** Returns the change that a transition makes: its draft, filled in by `fill`. */
export const drafted =
  <E>(fill: (draft: Draft, event: E) => void) =>
  (context: AgentContext, event: E): Draft => {
    const draft = new Draft(context)
    const now = timeOf(event as Timed)
    if (now !== undefined) draft.set({ now })
    fill(draft, event)
    return draft
  }
