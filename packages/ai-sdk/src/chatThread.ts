import { eventOf, type AgentEvent } from '../../../src/protocol/events.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { statePatchIn, type AppState } from '../../bridge/src/client/fold/foldAppState.ts'
import type { DrivenAgent, DrivenBelow } from '../../bridge/src/server/drivenAgent.ts'
import { awaitsDecision } from '../../../src/runtime/agents/agentTree.ts'
import type { Exchange } from './exchange.ts'
import { UiFold } from './uiFold.ts'
import { childrenIn, takeRecords } from './uiMessages.ts'

/** Reads the log of an agent, or of one below it, from a record on. */
export type ReadLog = (agentId: string, fromSeq: number) => AsyncIterable<LogRecord>

/** Watcher of the newest exchange, or of one that waits for its turn. */
export interface ChatWatcher {
  /** Called with each event, after the thread has taken it. */
  take(event: AgentEvent): void
  /** Called when nothing can continue before people decide. */
  wait(): void
  /** Called when no more events will come. */
  abort(): void
}

/** Maximum attempts to read logs that keep growing. */
const maxAttempts = 20

/** An agent as a chat: its newest exchange, followed as long as anyone watches or it is under way. */
export class ChatThread {
  readonly agent: DrivenAgent
  readonly #readLog: ReadLog
  readonly #views = new Set<ChatWatcher>()
  #fold: UiFold
  /** `seq` of the record that the newest exchange begins with. */
  #from = 1
  #following: Promise<void> | undefined
  /** Requests that are about to watch. */
  #held = 0
  #unsubscribe: (() => void) | undefined

  constructor(agent: DrivenAgent, readLog: ReadLog) {
    this.agent = agent
    this.#readLog = readLog
    this.#fold = new UiFold(agent.id)
  }

  /** The newest exchange. Up to date after `follow`. */
  get exchange(): Exchange | undefined {
    return this.#fold.exchange
  }

  get fold(): Pick<UiFold, 'previewOf' | 'called'> {
    return this.#fold
  }

  /** True while the newest exchange is running or waits for people. */
  get isUnderWay(): boolean {
    return this.exchange !== undefined && this.exchange.end === undefined
  }

  /** True while nothing can continue before people decide something. */
  get isWaiting(): boolean {
    return awaitsDecision(this.agent)
  }

  /** Reads the newest exchange from the log, and follows it from there until `release`, at least. Rejects as the store does. */
  async follow(): Promise<void> {
    this.#held += 1
    try {
      if (this.#unsubscribe !== undefined) return
      this.#following ??= this.#catchUp().finally(() => (this.#following = undefined))
      await this.#following
    } catch (thrown) {
      this.#held -= 1
      throw thrown
    }
  }

  /** Ends a request's hold on the thread: the request is done, or has begun to watch. */
  release(): void {
    this.#held -= 1
    this.#rest()
  }

  add(view: ChatWatcher): void {
    this.#views.add(view)
  }

  /** Removes a view that is over or whose client has left. */
  remove(view: ChatWatcher): void {
    this.#views.delete(view)
    this.#rest()
  }

  /** Ends all views: there will be no more events. */
  close(): void {
    for (const view of this.#views) view.abort()
    this.stop()
  }

  async #catchUp(): Promise<void> {
    const { agent } = this
    for (let attempt = 1; ; attempt += 1) {
      await agent.wake()
      await agent.durable()
      const records = await this.#newestExchange()
      const below = await this.#below(records)
      const isNew = (one: DrivenBelow, log: readonly LogRecord[] | undefined): boolean =>
        log?.length !== 0 && log?.at(-1)?.seq !== one.lastSeq
      const isBehind = isNew(agent, records) || livingBelow(agent).some((one) => isNew(one, below.get(one.id)))
      if (isBehind && attempt < maxAttempts) continue
      // No await from here on: what comes after these records comes as events.
      const fold = new UiFold(agent.id, undefined, stateBefore(agent, this.#from))
      takeRecords(fold, records, below)
      if (fold.exchange?.end === undefined) fold.takeGrowing(agent.growingReply)
      this.#fold = fold
      this.#unsubscribe = agent.subscribe((event) => this.#take(event), { descendants: true })
      return
    }
  }

  /** The records from the beginning of the newest exchange on. */
  async #newestExchange(): Promise<LogRecord[]> {
    let records: LogRecord[] = []
    const origin = { agentId: this.agent.id, path: [] }
    for await (const record of this.#readLog(this.agent.id, this.#from)) {
      if (record.type === 'run.start' && record.cause !== 'resume') {
        const ended = records.findLastIndex(({ type }) => type === 'run.end')
        // Those that changed the state since then belong to it.
        records = records.slice(ended + 1).filter((one) => statePatchIn(eventOf(one, origin)) !== undefined)
        this.#from = records[0]?.seq ?? record.seq
      }
      records.push(record)
    }
    return records
  }

  /** Reads the logs of the sub-agents that the records name. A sub-agent without a log is left out. */
  async #below(records: readonly LogRecord[]): Promise<Map<string, readonly LogRecord[]>> {
    const below = new Map<string, readonly LogRecord[]>()
    const ids = childrenIn(records)
    for (const id of ids) {
      const log = await recordsOf(this.#readLog(id, 1)).catch(() => [])
      below.set(id, log)
      ids.push(...childrenIn(log).filter((child) => !ids.includes(child)))
    }
    return below
  }

  #take(event: AgentEvent): void {
    if (event.incognito === true && !this.agent.incognito) return
    const isOwn = event.agentId === this.agent.id
    if (isOwn && event.type === 'run.start' && event.cause !== 'resume') this.#from = this.#fold.beginningAt(event.seq)
    this.#fold.take(event)
    for (const view of this.#views) view.take(event)
    // It is the last event of a step: those that led there have been taken.
    if (event.type === 'state.changed') {
      if (isOwn && event.state === 'stopped') this.close()
      else if (this.isWaiting) for (const view of this.#views) view.wait()
      this.#rest()
    }
  }

  /** Stops following the agent if nobody watches and nothing is under way, so that it may be unloaded. */
  #rest(): void {
    if (this.#held === 0 && this.#views.size === 0 && !this.isUnderWay) this.stop()
  }

  /** Stops following the agent, even if a run is under way. */
  stop(): void {
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
  }
}

/** The state that an agent had before a record, if anything had changed it. */
function stateBefore({ conversation: { state } }: DrivenAgent, seq: number): AppState | undefined {
  return state === undefined ? undefined : { value: state.valueAt(seq - 1), version: seq - 1 }
}

/** All records of a log. */
export async function recordsOf(log: AsyncIterable<LogRecord>): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  for await (const record of log) records.push(record)
  return records
}

const livingBelow = (agent: DrivenBelow): DrivenBelow[] =>
  agent.children().flatMap((child) => [child, ...livingBelow(child)])
