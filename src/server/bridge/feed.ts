import { isDelta, isLogged, type AgentEvent } from '../../protocol/events.ts'
import type { Agent, GrowingReply } from '../../runtime/agents/agent.ts'
import { outwardEvent } from './outwardError.ts'
import type { FedEvent, FeedListener, Source } from './source.ts'

/** Logged events kept for clients that are a little behind, and the most text of their frames; older ones are read from the log. */
const tailLength = 512
const tailChars = 4 * 1024 * 1024
/** Longest frame of a live event: the request of a turn holds the whole conversation, again and again. */
const mostLiveChars = 1024 * 1024
/** Live events that may wait behind a record that is being written. */
const mostHeld = 4_096

const deltaKinds = { 'reply.delta': 'text', 'thinking.delta': 'thinking' } as const

/** What a feed asks of the agent it follows. */
export type Followed = Pick<Agent, 'subscribe' | 'growingReply' | 'lastSeq' | 'durable'>

interface Held {
  readonly fed: FedEvent
  readonly event: AgentEvent | undefined
}

/**
 * Events of one agent for all its subscribers: each is serialised once, and the newest are kept. A record is told once the store
 * has it, and nothing overtakes it: a client never knows more than the log of a server that was killed. While the store fails
 * they are told as they come.
 */
export class Feed implements Source {
  readonly agentId: string
  /** Ids of its ancestors, root first. */
  readonly path: readonly string[]
  /** It was given up: nothing comes any more. */
  isClosed = false
  #agent: Followed | undefined
  readonly #listeners = new Set<FeedListener>()
  readonly #tail: FedEvent[] = []
  #tailChars = 0
  readonly #held: Held[] = []
  #unsubscribe: (() => void) | undefined
  #hearsFamily = false
  #unsubscribeFamily: (() => void) | undefined
  #growing: { -readonly [K in keyof GrowingReply]: GrowingReply[K] } | undefined
  #lastSeq: number

  /** Without an agent it does not run: everything there is of it is in its log. */
  constructor({ agentId, path, lastSeq }: Pick<Source, 'agentId' | 'path' | 'lastSeq'>, agent?: Followed) {
    this.agentId = agentId
    this.path = path
    this.#lastSeq = lastSeq
    if (agent !== undefined) this.follow(agent)
  }

  get lastSeq(): number {
    return this.#lastSeq
  }

  get isEmpty(): boolean {
    return this.#listeners.size === 0
  }

  durable(): Promise<void> | undefined {
    return this.#agent?.durable()
  }

  /** The agent runs, perhaps again, after it was closed: its listeners hear of that one from now on. */
  follow(agent: Followed): void {
    if (agent === this.#agent) return
    this.#unsubscribe?.()
    this.#agent = agent
    this.#growing = agent.growingReply
    this.#unsubscribe = agent.subscribe((event) => this.#take(event))
    if (this.#hearsFamily) this.#hearFamily()
  }

  listen(listener: FeedListener, { descendants }: { readonly descendants: boolean }): () => void {
    this.#listeners.add(listener)
    if (descendants && !this.#hearsFamily) this.#hearFamily()
    return () => this.#listeners.delete(listener)
  }

  #hearFamily(): void {
    this.#hearsFamily = true
    this.#unsubscribeFamily?.()
    this.#unsubscribeFamily = this.#agent?.subscribe((event) => this.#takeOfFamily(event), { descendants: true })
  }

  after(seq: number): readonly FedEvent[] | undefined {
    if (seq >= this.#lastSeq) return []
    const [first] = this.#tail
    if (first === undefined || first.seq > seq + 1) return undefined
    return this.#tail.slice(seq + 1 - first.seq)
  }

  growing(): string[] {
    const reply = this.#growing
    if (reply === undefined) return []
    return (['thinking', 'text'] as const).flatMap((kind) =>
      reply[kind] === '' ? [] : [deltaFrame(this.agentId, { ...reply, kind, offset: 0, text: reply[kind] })],
    )
  }

  close(): void {
    this.isClosed = true
    this.#unsubscribe?.()
    this.#unsubscribeFamily?.()
    this.#listeners.clear()
  }

  #take(event: AgentEvent): void {
    if (event.agentId === this.agentId) this.#hold(fedEvent(event), event)
    // Approvals of sub-agents reach their ancestors too: somebody here must decide.
    else this.#hold(this.#beside(event, 'approval'))
  }

  #takeOfFamily(event: AgentEvent): void {
    if (event.agentId !== this.agentId) this.#hold(this.#beside(event, 'family'))
  }

  #beside(event: AgentEvent, scope: FedEvent['scope']): FedEvent {
    const seq = this.#agent?.lastSeq ?? this.#lastSeq
    const frame = liveFrame(event, this.agentId, seq)
    return { seq, isLogged: false, isDelta: isDelta(event), scope, frame }
  }

  #hold(fed: FedEvent, event?: AgentEvent): void {
    const isPending = fed.isLogged && this.#isUnwritten
    if (this.#held.length === 0 && !isPending) return this.#tell(fed, event)
    if (!fed.isLogged && this.#held.length >= mostHeld) return
    this.#held.push({ fed, event })
    if (this.#held.length === 1) void this.#release()
  }

  /** Whether the store does not have the newest record yet. */
  get #isUnwritten(): boolean {
    const pending = this.durable()
    pending?.catch(() => {})
    return pending !== undefined
  }

  async #release(): Promise<void> {
    while (this.#held.length > 0) {
      const count = this.#held.length
      try {
        await this.durable()
      } catch {
        // They are in memory until the store works again.
      }
      for (const { fed, event } of this.#held.slice(0, count)) this.#tell(fed, event)
      this.#held.splice(0, count)
    }
  }

  #tell(fed: FedEvent, event: AgentEvent | undefined): void {
    if (fed.isLogged) this.#keep(fed)
    if (event !== undefined) this.#grow(event)
    for (const listener of this.#listeners) listener(fed)
  }

  #keep(fed: FedEvent): void {
    // After a gap the tail would lie about what it holds.
    if (fed.seq !== this.#lastSeq + 1) this.#forgetTail()
    this.#lastSeq = fed.seq
    this.#tail.push(fed)
    this.#tailChars += fed.frame.length
    while (this.#tail.length > tailLength || this.#tailChars > tailChars)
      this.#tailChars -= this.#tail.shift()!.frame.length
  }

  #forgetTail(): void {
    this.#tail.length = 0
    this.#tailChars = 0
  }

  #grow(event: AgentEvent): void {
    if (event.type === 'reply.start') {
      this.#growing = { runId: event.runId, turnIndex: event.turnIndex, text: '', thinking: '' }
    } else if (event.type === 'reply.end' || event.type === 'reply.reset' || event.type === 'run.end') {
      this.#growing = undefined
    } else if (this.#growing !== undefined && event.type === 'reply.delta') this.#growing.text += event.text
    else if (this.#growing !== undefined && event.type === 'thinking.delta') this.#growing.thinking += event.text
  }
}

/** An event of the agent's own as a frame. */
export function fedEvent(event: AgentEvent): FedEvent {
  return { seq: event.seq, isLogged: isLogged(event), isDelta: isDelta(event), scope: 'own', frame: frameOf(event) }
}

function frameOf(event: AgentEvent): string {
  if (event.type === 'reply.delta' || event.type === 'thinking.delta')
    return deltaFrame(event.agentId, { ...event, kind: deltaKinds[event.type] })
  return isLogged(event) ? loggedFrame(event) : liveFrame(event, event.agentId, event.seq)
}

/** A record as every subscriber gets it. */
export const loggedFrame = (event: AgentEvent): string =>
  JSON.stringify({ type: 'event', agentId: event.agentId, seq: event.seq, event: outwardEvent(event) })

/** Something beside the log of `agentId`, after its record `seq`; of one that is too large only that it happened. */
function liveFrame(event: AgentEvent, agentId: string, seq: number): string {
  const frame = JSON.stringify({ type: 'event', agentId, seq, event: outwardEvent(event), live: true })
  if (frame.length <= mostLiveChars || event.type === 'events.dropped') return frame
  const { path, time } = event
  const at = 'runId' in event ? { runId: event.runId, turnIndex: event.turnIndex } : { runId: '', turnIndex: 0 }
  const dropped = {
    type: 'events.dropped',
    agentId: event.agentId,
    path,
    seq: event.seq,
    time,
    ...at,
    count: 1,
  } as const
  return liveFrame(dropped, agentId, seq)
}

interface Delta {
  readonly runId: string
  readonly turnIndex: number
  readonly kind: 'text' | 'thinking'
  readonly offset: number
  readonly text: string
}

const deltaFrame = (agentId: string, { runId, turnIndex, kind, offset, text }: Delta): string =>
  JSON.stringify({ type: 'delta', agentId, runId, turnIndex, kind, offset, text })
