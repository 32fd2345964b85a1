import type { SourceInfo } from './toolsChange.ts'
import type { TagKind } from './braking.ts'
import type { ErrorInfo } from './errors.ts'
import type { NodeId } from './ids.ts'
import type { LogRecord, RecordOf } from './records.ts'
import type { ModelRequest } from './ports/model.ts'
import type { Provenance } from './provenance.ts'

/** Origin of an event: the agent and its ancestors, root first. */
export interface EventOrigin {
  readonly agentId: string
  readonly path: readonly string[]
  /** Set for an incognito agent. None of its data is stored, and consumers that keep events should not keep these. */
  readonly incognito?: true
}

type Stamped<R> = R extends unknown ? Readonly<R> & EventOrigin : never

/** An event that is a record of the log. Its `seq` is the record's, so it can be replayed, and a listener can resume from it. */
export type LoggedEvent = Stamped<LogRecord>

interface Live extends EventOrigin {
  /** `seq` of the last record before this event. */
  readonly seq: number
  readonly time: number
  readonly runId: string
  readonly turnIndex: number
}

/** Reason why a model call waits: a reached limit, or a provider that asked for a pause. */
export type WaitReason = 'concurrency' | 'requestsPerMinute' | 'tokensPerMinute' | 'retryAfter'

/** An event that is not in the log. Only live listeners see it. */
export type LiveEvent =
  | (Live & {
      readonly type: 'turn.request'
      readonly model: string
      readonly request: ModelRequest
      /** Provenance: one entry for each message of the request. */
      readonly provenance: readonly Provenance[]
    })
  /** The start of a reply. `model` is set if a model other than the agent's own answers: see `fallback` and `router`. */
  | (Live & { readonly type: 'reply.start'; readonly attempt: number; readonly model?: string })
  /** A piece of the answer's text. `offset` is its position in the reply's text so far, in UTF-16 units. */
  | (Live & { readonly type: 'reply.delta'; readonly text: string; readonly offset: number })
  | (Live & { readonly type: 'thinking.delta'; readonly text: string; readonly offset: number })
  | (Live & { readonly type: 'toolCall.delta'; readonly callId: string; readonly name?: string; readonly text: string })
  | (Live & {
      readonly type: 'tool.progress'
      readonly callId: string
      readonly name: string
      readonly progress: unknown
    })
  /** A part of the request that the provider does not support, or a part of the reply that cannot be kept. Each text is reported once per run. */
  | (Live & { readonly type: 'model.warning'; readonly model: string; readonly message: string })
  /** A model call that waits because of the runtime's limits (`createRuntime({ models })`), behind `ahead` others to the same model. */
  | (Live & {
      readonly type: 'model.waiting'
      readonly model: string
      readonly why: WaitReason
      readonly ahead: number
    })
  /** The start of a model call that waited `ms` milliseconds. */
  | (Live & { readonly type: 'model.waited'; readonly model: string; readonly ms: number })
  | (Live & { readonly type: 'state.changed'; readonly state: string; readonly previous: string })
  /** A tag that is no longer shown in requests. It stays in the log. */
  | (Live & { readonly type: 'tag.expired'; readonly nodeId: NodeId; readonly kind: TagKind; readonly text: string })
  /** A change in the status of a source of the agent's tools since the last turn. */
  | (Live & { readonly type: 'source.status' } & SourceInfo)
  /** An error that does not in itself end the run. */
  | (Live & { readonly type: 'error'; readonly error: ErrorInfo })
  /** Placeholder for a record that a client may not see, with the place of its message in the conversation. */
  | (Live & {
      readonly type: 'record.withheld'
      readonly nodeId?: NodeId
      readonly parentId?: NodeId | null
      /** The rest of the record of a captured request that the client did not ask for, with `messages` counted. */
      readonly captured?: Pick<RecordOf<'turn.captured'>, 'attempt' | 'model' | 'kept'> & { readonly messages: number }
    })
  /** Number of events that were dropped before this one because the listener was too slow. They can be read from the log. */
  | (Live & { readonly type: 'events.dropped'; readonly count: number })

/** Any event that an observer of an agent can see. */
export type AgentEvent = LoggedEvent | LiveEvent

export type EventOf<T extends AgentEvent['type']> = Extract<AgentEvent, { type: T }>

/** Converts a record to the event that observers get. */
export const eventOf = (
  record: LogRecord,
  { agentId, path, incognito }: Omit<EventOrigin, 'incognito'> & { readonly incognito?: true | undefined },
): LoggedEvent => (incognito === true ? { ...record, agentId, path, incognito } : { ...record, agentId, path })

/** Returns true if an event is about a decision that people have to make or have made. Every ancestor of the agent receives it. */
export const concernsPeople = (event: { readonly type: string }): boolean =>
  event.type.startsWith('approval.') ||
  event.type.startsWith('question.') ||
  event.type === 'call.requested' ||
  (event.type === 'tool.end' && 'returned' in event)

/** Returns true if an event is a record of the log. Only live listeners see the others. */
export const isLogged = (event: AgentEvent): event is LoggedEvent => 'v' in event

export type DeltaEvent = Extract<LiveEvent, { type: `${string}.delta` }>

/** Returns true if an event is a piece of a growing reply. */
export const isDelta = <E extends { readonly type: string }>(
  event: E,
): event is Extract<E, { type: DeltaEvent['type'] }> => event.type.endsWith('.delta')

/** The part of a streaming reply that has arrived. */
export interface GrowingReply {
  readonly runId: string
  readonly turnIndex: number
  readonly text: string
  readonly thinking: string
}
