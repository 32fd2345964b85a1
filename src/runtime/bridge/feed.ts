import type { AgentEvent } from '../../protocol/events.ts'
import type { Agent } from '../agent.ts'

/** A frame of the feed: serialised once for everyone. */
export interface FedEvent {
  readonly seq: number
  readonly agentId: string
  readonly isLogged: boolean
  readonly event: AgentEvent
  readonly frame: string
}

export type FeedListener = (fed: FedEvent) => void

/** Logged events kept for clients that are a little behind; older ones are read from the log. */
const tailLength = 512

const deltaKinds = { 'reply.delta': 'text', 'thinking.delta': 'thinking' } as const

/** What has arrived of the reply under way, for a client that comes in the middle. */
interface Growing {
  readonly loopId: string
  readonly turnIndex: number
  text: string
  thinking: string
}

/** Events of one agent for all its subscribers: each is serialised once, and the newest are kept. */
export class Feed {
  readonly agent: Agent
  readonly #listeners = new Set<FeedListener>()
  readonly #tail: FedEvent[] = []
  readonly #unsubscribe: () => void
  #growing: Growing | undefined
  #lastSeq: number

  constructor(agent: Agent) {
    this.agent = agent
    this.#lastSeq = agent.lastSeq
    this.#unsubscribe = agent.subscribe((event) => this.#take(event))
  }

  /** `seq` of the last record that was told. */
  get lastSeq(): number {
    return this.#lastSeq
  }

  get isEmpty(): boolean {
    return this.#listeners.size === 0
  }

  listen(listener: FeedListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Logged events after `seq`, when they are all still here. */
  after(seq: number): readonly FedEvent[] | undefined {
    if (seq >= this.#lastSeq) return []
    const [first] = this.#tail
    if (first === undefined || first.seq > seq + 1) return undefined
    return this.#tail.slice(seq + 1 - first.seq)
  }

  /** One delta a kind that holds everything of the reply under way so far. */
  growing(): string[] {
    const reply = this.#growing
    if (reply === undefined) return []
    return (['thinking', 'text'] as const).flatMap((kind) =>
      reply[kind] === '' ? [] : [deltaFrame(this.agent.id, { ...reply, kind, offset: 0, text: reply[kind] })],
    )
  }

  close(): void {
    this.#unsubscribe()
    this.#listeners.clear()
  }

  #take(event: AgentEvent): void {
    // Approvals of sub-agents reach their ancestors' listeners too; they have feeds of their own.
    if (event.agentId !== this.agent.id) return
    const fed = fedEvent(event)
    if (fed.isLogged) {
      this.#lastSeq = event.seq
      this.#tail.push(fed)
      if (this.#tail.length > tailLength) this.#tail.shift()
    }
    this.#grow(event)
    for (const listener of this.#listeners) listener(fed)
  }

  #grow(event: AgentEvent): void {
    if (event.type === 'reply.start') {
      this.#growing = { loopId: event.loopId, turnIndex: event.turnIndex, text: '', thinking: '' }
    } else if (event.type === 'reply.end' || event.type === 'reply.reset' || event.type === 'run.end') {
      this.#growing = undefined
    } else if (this.#growing !== undefined && event.type === 'reply.delta') this.#growing.text += event.text
    else if (this.#growing !== undefined && event.type === 'thinking.delta') this.#growing.thinking += event.text
  }
}

const liveTypes: ReadonlySet<AgentEvent['type']> = new Set<AgentEvent['type']>([
  'turn.request',
  'reply.start',
  'reply.delta',
  'thinking.delta',
  'toolCall.delta',
  'tool.progress',
  'state.changed',
  'tag.expired',
  'error',
  'events.dropped',
])

/** An event as a frame. */
export function fedEvent(event: AgentEvent): FedEvent {
  const { agentId, seq } = event
  const isLogged = !liveTypes.has(event.type)
  return { agentId, seq, event, isLogged, frame: frameOf(event, isLogged) }
}

function frameOf(event: AgentEvent, isLogged: boolean): string {
  if (event.type === 'reply.delta' || event.type === 'thinking.delta')
    return deltaFrame(event.agentId, { ...event, kind: deltaKinds[event.type] })
  const { agentId, seq } = event
  return JSON.stringify({ type: 'event', agentId, seq, event, ...(isLogged ? {} : { live: true }) })
}

const deltaFrame = (
  agentId: string,
  {
    loopId,
    turnIndex,
    kind,
    offset,
    text,
  }: { loopId: string; turnIndex: number; kind: 'text' | 'thinking'; offset: number; text: string },
): string => JSON.stringify({ type: 'delta', agentId, loopId, turnIndex, kind, offset, text })
