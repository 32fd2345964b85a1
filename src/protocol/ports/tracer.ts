import type { AgentEvent } from '../events.ts'

/** The agent that an event or effect belongs to. */
export interface TracedAgent {
  readonly agentId: string
  /** Ids of the ancestors, root first. */
  readonly path: readonly string[]
  /** Name of the agent's definition. */
  readonly name: string
  /** Id of the agent's model. */
  readonly model: string
  /** Set for an incognito agent. A tracer must keep no content of its events. */
  readonly incognito?: true
}

/** An effect that takes place inside a span. */
export type TracedEffect =
  /** A model call. `model` is its id, if it is not the agent's model. */
  | { readonly type: 'model'; readonly turnIndex: number; readonly attempt: number; readonly model?: string }
  /** A tool call. `source` names the tool's source, if it has one. */
  | { readonly type: 'tool'; readonly turnIndex: number; readonly callId: string; readonly source?: string }
  | { readonly type: 'drain' | 'compaction' | 'hook' }

/**
 * The tracing port. `escapement/otel` has one for OpenTelemetry. Its methods must not throw; if one does, the error is
 * reported once and has no other effect.
 */
export interface Tracer {
  /** True to get `turn.request` events, which are built only if a tracer or listener wants them. */
  readonly wantsRequests?: boolean
  /** Receives an event as it happens, before any listener. Deltas are left out. */
  event(event: AgentEvent, agent: TracedAgent): void
  /** Calls `run` once, so that its work is part of the effect's span, and returns its result. */
  within<T>(effect: TracedEffect, agent: TracedAgent, run: () => T): T
  /** Called when a command that may start a run is given; the current span becomes the run's parent. */
  requested?(requestId: string, agent: TracedAgent): void
  /** Called after the last event of an agent that was stopped or closed, or failed. Its open spans are ended. */
  ended?(agent: TracedAgent): void
}
