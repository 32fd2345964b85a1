import type { AssembledRequest } from '../conversation/assembleRequest.ts'
import type { Conversation } from '../conversation/conversation.ts'
import type { Clock } from '../protocol/clock.ts'
import type { LiveEvent } from '../protocol/events.ts'
import type { AgentDefinition } from './agentDefinition.ts'

type Unstamped<E> = E extends unknown ? Omit<E, 'agentId' | 'path' | 'seq' | 'time'> : never

/** A live event before the runtime adds whose it is and when. */
export type LiveBody = Unstamped<LiveEvent>

/** What has arrived of a reply so far: what an abort keeps. */
export interface PartialReply {
  readonly key: string
  text: string
  thinking: string
  readonly estimatedTokens: number
}

/** What the effects of one agent may reach. Implemented by the runtime. */
export interface AgentPorts {
  readonly agentId: string
  readonly path: readonly string[]
  readonly definition: AgentDefinition
  readonly conversation: Conversation
  readonly clock: Clock
  /** A number from 0 to 1. */
  readonly random: () => number
  partial: PartialReply | null
  /** The last request observers were told of. */
  announced: string
  /** The request of the trunk as it stands. */
  assemble(turnIndex: number): AssembledRequest
  /** Resolves once every record so far is as durable as the store promises; `undefined`: it is already. Rejects when the store fails. */
  durable(): Promise<void> | undefined
  emit(event: LiveBody): void
  /** Whether anyone sees live events; building a large one for nobody is waste. */
  readonly isObserved: boolean
  /** Tells the machine that the first token of the reply under `key` arrived. */
  replyStarted(key: string): void
}

/** Finds an agent's ports by id: actors get plain JSON as input and reach the world through this alone. */
export type FindPorts = (agentId: string) => AgentPorts
