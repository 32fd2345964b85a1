import { signal, type ReadonlySignal, type Signal } from '@preact/signals'
import type { Permissions } from '../../../../../../src/protocol/parts/permissions/permissionState.ts'
import type { Client } from '../../../../../bridge/src/client/index.ts'
import type { SourceInfo } from '../../../../../../src/protocol/toolsChange.ts'
import type { PolicyInfo } from '../../../../../../src/protocol/braking.ts'
import type { Took } from '../../../../../charts/src/workTimes.ts'
import { toErrorInfo, type ErrorInfo } from '../../../../../../src/protocol/errors.ts'
import type { AgentEvent } from '../../../../../../src/protocol/events.ts'
import type { AgentSummary } from '../../../../../wire/src/frames.ts'
import { foldPending, nothingAsked, pendingOf } from '../../../../../bridge/src/client/fold/foldPending.ts'
import type { LogRecord, PauseReason } from '../../../../../../src/protocol/records.ts'
import { RunTimes } from './runTimes.ts'
import type { AgentView, AgentViewState, AgentViewStatus, PartialReply } from './agentView.ts'
import { EventErrors } from './eventErrors.ts'
import { complete, EventList, isLogged, leftOf, standIn } from './eventList.ts'
import type { FrameBatch } from './frameBatch.ts'
import { LogFold, TimeTravel } from './logFold.ts'

/** Returns true for a state of an agent that is not running. Of these, the chart has only `stopped`. */
const hasLeft = (state: string): boolean => state === 'closed' || state === 'stopped'

/** Number of records after which the progress of reading a log is shown. */
const loadingStep = 1_000

/** State of an agent as its log gives it; discarded together with the log. */
interface LoadedLog {
  past: readonly (readonly LogRecord[])[]
  readonly records: LogRecord[]
  readonly events: EventList
  /** `undefined` until the past of a fork is read. */
  fold: LogFold | undefined
  travel: TimeTravel | undefined
  /** True once a captured request came without its messages. */
  hasApart: boolean
  /** True once the whole log has been read. */
  isRead: boolean
}

/** Options of following an agent. */
export interface FollowOptions {
  readonly batch: FrameBatch
  /** `seq` of the moment to show; `null`: the newest. */
  readonly at?: number | null
  /** The newest events of the log, shown until all of it is there; none if the log has none. Never rejects. */
  readonly newest?: Promise<readonly AgentEvent[] | null | undefined> | undefined
}

const noPast: readonly never[] = []

const emptyLog = (): LoadedLog => ({
  past: noPast,
  records: [],
  events: new EventList(),
  fold: undefined,
  travel: undefined,
  hasApart: false,
  isRead: false,
})

/** Follows one agent: reads its log from the beginning, folds it as it grows, and can show any moment of it. Close it. */
export class FollowedAgent implements AgentView {
  readonly agentId: string
  readonly #errors = new EventErrors()
  readonly #runTimes = new RunTimes()
  readonly #client: Client
  readonly #batch: FrameBatch
  readonly #newest: FollowOptions['newest']
  readonly #closing = new AbortController()
  readonly #state: Signal<AgentViewState>
  readonly #publish = (): void => void (this.#state.value = this.#next())
  #asked = nothingAsked
  #tail: readonly LogRecord[] = noPast
  #unsubscribe: () => void = () => {}
  /** Ends the reading of requests; `undefined` until requests are asked for. */
  #endRequests: (() => void) | undefined
  #areRequestsRead = false
  #log = emptyLog()
  #emptyFold = new LogFold()
  #at: number | null = null
  #liveState: string | undefined
  #waitsFor: string | null = null
  #livePause: PauseReason | null = null
  #partial: PartialReply | null = null
  #policies: readonly PolicyInfo[] | null = null
  #permissions: Permissions | null = null
  /** Condition of the agent's tool sources, as far as the server has sent it. */
  #sources: readonly SourceInfo[] = []
  #error: ErrorInfo | undefined
  #isAsking = false

  constructor(client: Client, agentId: string, { batch, at = null, newest }: FollowOptions) {
    this.#client = client
    this.#newest = newest
    this.agentId = agentId
    this.#batch = batch
    this.#at = at
    this.#state = signal(this.#next())
    void this.#open()
  }

  get state(): ReadonlySignal<AgentViewState> {
    return this.#state
  }

  /** Failures up to the moment that is shown, oldest first. */
  get errors(): readonly AgentEvent[] {
    const { events, eventCount } = this.#state.value
    return this.#errors.of(events, eventCount)
  }

  /** Times of the agent's runs, by run id, as of the moment that is shown. */
  get runTimes(): ReadonlyMap<string, Took> {
    const { records, at, lastSeq } = this.state.value
    return this.#runTimes.of(records, at ?? lastSeq)
  }

  /** Shows the moment after record `seq`, or with `null` the newest. */
  goTo(seq: number | null): void {
    this.#at = seq === null ? null : Math.max(1, seq)
    this.#change()
  }

  /** Takes the directory's summary of the agent; `undefined` if it no longer runs. */
  takeSummary(summary: AgentSummary | undefined): void {
    const state = summary?.state ?? 'closed'
    const before = this.#liveState
    const isNew = state !== before
    this.#liveState = state
    // What was woken may have another definition.
    const isChanged = isNew && (state === 'paused' || (before !== undefined && hasLeft(before)))
    if (summary === undefined) this.#asked = nothingAsked
    else if (isChanged || !this.#hasKeys(summary.pending ?? summary.pendingApprovals)) void this.refresh()
    if (isNew) this.#change()
  }

  /** Asks the server for the agent's state: after a reconnect, or when something may have been missed. Never rejects. */
  async refresh(): Promise<void> {
    // The log comes first: of a long one the server would read all of it twice before the first record was sent.
    if (this.#isAsking || (!this.#log.isRead && this.#error === undefined)) return
    this.#isAsking = true
    try {
      const snapshot = await this.#client.agent(this.agentId).snapshot()
      const { seq, state, pause, policies = null, permissions = null, sources = [] } = snapshot
      if (this.#closing.signal.aborted) return
      if (this.#error !== undefined || seq < this.#log.records.length) this.#restart()
      this.#liveState = state
      this.#livePause = pause
      this.#policies = policies
      this.#permissions = permissions
      this.#sources = sources
      this.#asked = { ...this.#asked, pending: pendingOf(snapshot) }
      this.#change()
    } catch (thrown) {
      this.#fail(thrown)
    } finally {
      this.#isAsking = false
    }
  }

  readRequests(): void {
    const { agentId } = this
    if (this.#endRequests !== undefined || !this.#log.hasApart || this.#closing.signal.aborted) return
    const log = this.#log
    const fill = (event: AgentEvent): void => {
      if (event.type !== 'turn.captured' || event.agentId !== agentId) return
      const record = log.records[event.seq - 1]
      if (record !== undefined && leftOf(record) !== undefined) complete(record, event)
    }
    const onCaughtUp = (): void => {
      this.#areRequestsRead = true
      this.#change()
    }
    const onEnd = (error?: ErrorInfo): void => {
      if (error === undefined) onCaughtUp()
      else this.#failWith(error)
    }
    this.#endRequests = this.#client.agent(agentId).subscribe(fill, { fromSeq: 1, deltas: false, onCaughtUp, onEnd })
  }

  /** Ends the subscription. Idempotent. */
  close(): void {
    this.#closing.abort(new Error('the agent is not shown any more'))
    this.#unsubscribe()
    this.#endRequests?.()
    this.#batch.remove(this.#publish)
  }

  async #open(): Promise<void> {
    // What it may see is known by then.
    const isThere = await this.#client.ready.then(
      () => true,
      () => false,
    )
    if (!isThere || this.#closing.signal.aborted) return
    // The end comes first, alone: what is shown should wait for nothing else.
    const newest = (await this.#newest) ?? noPast
    if (this.#closing.signal.aborted) return
    this.#tail = newest.map((event) => standIn(event) as AgentEvent & LogRecord)
    this.#change()
    this.#subscribe()
  }

  #subscribe(): void {
    const log = this.#log
    const listener = (event: AgentEvent): void => {
      if (log === this.#log && this.#error === undefined) this.#take(event, log)
    }
    const onCaughtUp = (): void => {
      if (log.isRead) return
      log.isRead = true
      this.#tail = noPast
      this.#change()
      void this.refresh()
    }
    // Nothing more comes of a stopped agent, whose log has been read by then.
    const onEnd = (error?: ErrorInfo): void => {
      if (error === undefined) onCaughtUp()
      else if (log === this.#log) this.#failWith(error)
    }
    const requests = this.#client.may('see.all')
    this.#unsubscribe = this.#client
      .agent(this.agentId)
      .subscribe(listener, { fromSeq: 1, requests, captured: false, onCaughtUp, onEnd })
  }

  /** Reads the log again, because the server's log differs from the one that was read: it has lost records, or has become readable. */
  #restart(): void {
    this.#unsubscribe()
    this.#endRequests?.()
    this.#endRequests = undefined
    this.#areRequestsRead = false
    this.#error = undefined
    this.#log = emptyLog()
    this.#partial = null
    this.#subscribe()
  }

  #take(event: AgentEvent, log: LoadedLog): void {
    const { agentId } = this
    const before = this.#asked
    this.#asked = foldPending(before, event, { agentId })
    if (event.agentId !== agentId) {
      if (this.#asked === before) return
    } else if (isLogged(event)) this.#record(standIn(event) as LogRecord & AgentEvent, log)
    else this.#live(event, log)
    // While a long log is read, showing how far it is must not take longer than reading it.
    if (this.#state.peek().status !== 'loading' || log.records.length % loadingStep === 1) this.#change()
  }

  /** Returns true if the known items that wait for people have exactly these keys. */
  #hasKeys(keys: readonly string[]): boolean {
    const own = new Set(this.#asked.pending.map(({ key }) => key))
    return own.size === keys.length && keys.every((key) => own.has(key))
  }

  #record(event: LogRecord & AgentEvent, log: LoadedLog): void {
    if (event.seq <= log.records.length) return this.#restart()
    log.records.push(event)
    log.hasApart ||= leftOf(event) !== undefined
    log.events.add(event)
    if (event.type === 'agent.created') this.#begin(event, log)
    else this.#fold(log, event)
    if (event.type === 'agent.stopped') this.#liveState = 'stopped'
    if (event.type === 'reply.end' || event.type === 'reply.reset' || event.type === 'run.end') this.#partial = null
  }

  #begin(created: LogRecord & { type: 'agent.created' }, log: LoadedLog): void {
    const start = (past: readonly (readonly LogRecord[])[]): void => {
      log.past = past
      log.fold = new LogFold(past)
      log.travel = new TimeTravel(log.records, past)
      for (const record of log.records) this.#fold(log, record)
      this.#change()
    }
    if (created.forkedFrom === undefined) return start(noPast)
    // Of the fork itself: its source may be out of reach.
    const agent = this.#client.agent(this.agentId)
    agent
      .past()
      .then((past) => {
        if (this.#closing.signal.aborted) return
        start(past.map((part) => part.map((record) => standIn(record as AgentEvent) as AgentEvent & LogRecord)))
      })
      .catch((thrown: unknown) => this.#fail(thrown))
  }

  #fold({ fold }: LoadedLog, record: LogRecord): void {
    try {
      fold?.apply(record)
    } catch (thrown) {
      this.#fail(thrown)
    }
  }

  #live(event: AgentEvent, log: LoadedLog): void {
    if (event.type === 'reply.delta' || event.type === 'thinking.delta') return this.#grow(event)
    if (event.type === 'toolCall.delta') return
    if (event.type === 'source.status') this.#sources = withSource(this.#sources, event)
    if (event.type === 'model.waiting') this.#waitsFor = event.model
    else if (event.type === 'model.waited' || event.type === 'state.changed') this.#waitsFor = null
    if (event.type === 'reply.start') this.#partial = { turnIndex: event.turnIndex, text: '', thinking: '' }
    else if (event.type === 'state.changed') this.#liveState = event.state
    else if (event.type === 'turn.request') log.fold?.see(event)
    log.events.add(event)
  }

  #grow({ type, text, offset, turnIndex }: Extract<AgentEvent, { type: 'reply.delta' | 'thinking.delta' }>): void {
    const kind = type === 'reply.delta' ? 'text' : 'thinking'
    const before = this.#partial ?? { turnIndex, text: '', thinking: '' }
    this.#partial = { ...before, turnIndex, [kind]: before[kind].slice(0, offset) + text }
  }

  #fail(thrown: unknown): void {
    this.#failWith(toErrorInfo(thrown, 'INTERNAL'))
  }

  #failWith(error: ErrorInfo): void {
    if (this.#closing.signal.aborted) return
    this.#error = error
    this.#unsubscribe()
    this.#change()
  }

  #change(): void {
    this.#batch.add(this.#publish)
  }

  #status(): AgentViewStatus {
    if (this.#error !== undefined) return 'error'
    const { fold, isRead } = this.#log
    if (fold === undefined || !isRead) return 'loading'
    return this.#at === null ? 'live' : 'past'
  }

  #next(): AgentViewState {
    const { past, records, events, fold: newest, travel } = this.#log
    const status = this.#status()
    const lastSeq = records.length
    const at = status === 'past' ? Math.min(this.#at!, lastSeq) : null
    const fold = (at === null ? newest : travel?.to(at)) ?? this.#emptyFold
    const isNow = at === null
    const isGone = this.#liveState === undefined || hasLeft(this.#liveState)
    return {
      agentId: this.agentId,
      definition: newest?.created?.definition ?? '',
      status,
      ...(this.#error === undefined ? {} : { error: this.#error }),
      past,
      tail: status === 'loading' ? this.#tail : noPast,
      records,
      at,
      lastSeq,
      conversation: fold.conversation,
      created: fold.created,
      ...(fold.title === undefined ? {} : { title: fold.title }),
      run: fold.run,
      ...(fold.last === undefined ? {} : { last: fold.last }),
      chartState: isNow && !isGone ? this.#liveState! : fold.state,
      isRunning: !isGone,
      policies: this.#policies,
      permissions: this.#permissions,
      consulting: isNow && this.#liveState !== 'draining.consulting' ? null : fold.consulting,
      use: fold.use,
      sources: isNow && this.#sources.length > 0 ? this.#sources : fold.sources,
      instructions: fold.instructions,
      schedules: fold.schedules,
      waitsFor: isNow ? this.#waitsFor : null,
      requests: fold.requests,
      areRequestsRead: this.#areRequestsRead || !this.#log.hasApart,
      partial: isNow ? this.#partial : null,
      pending: isNow ? this.#asked.pending : [],
      queues: fold.conversation.queues,
      pause: fold.pause ?? (isNow && this.#liveState === 'paused' ? this.#livePause : null),
      children: fold.children,
      spent: fold.spent,
      ownCostUsd: fold.ownCostUsd,
      events: events.all,
      eventCount: isNow ? events.all.length : events.countUpTo(at),
    }
  }
}

function withSource(before: readonly SourceInfo[], { source, state, tools, trouble }: SourceInfo): SourceInfo[] {
  const now = { source, state, tools, ...(trouble === undefined ? {} : { trouble }) }
  const isKnown = before.some((one) => one.source === source)
  return isKnown ? before.map((one) => (one.source === source ? now : one)) : [...before, now]
}
