import type { AgentEvent } from '../events.ts'

/** The agent that an event or effect belongs to. */
export interface TracedAgent {
  readonly agentId: string
  /** Ids of the ancestors, root first. */
  readonly path: readonly string[]
  /** Name of its definition. */
  readonly name: string
  /** Id of its model. */
  readonly model: string
  /** Set for an incognito agent: a tracer must keep no content of its events. */
  readonly incognito?: true
}

/** An effect that takes place inside a span. */
export type TracedEffect =
  /** `model`: its id, if it is not the agent's. */
  | { readonly type: 'model'; readonly turnIndex: number; readonly attempt: number; readonly model?: string }
  /** `source`: where the tool comes from, if that is a source of tools. */
  | { readonly type: 'tool'; readonly turnIndex: number; readonly callId: string; readonly source?: string }
  | { readonly type: 'drain' | 'compaction' | 'hook' }

/**
 * The tracing port. `escapement/otel` has one for OpenTelemetry. Its methods must not throw; if one does, the error is
 * reported once and has no other effect.
 */
export interface Tracer {
  /** True if `turn.request` events are wanted; unless a tracer or listener wants them they are not built. */
  readonly wantsRequests?: boolean
  /** Called with an event the moment it happens, before any listener; deltas are left out. */
  event(event: AgentEvent, agent: TracedAgent): void
  /** Calls `run` once, so that its work is part of the effect's span, and returns its result. */
  within<T>(effect: TracedEffect, agent: TracedAgent, run: () => T): T
  /** Called when a command that may start a run was given: the surrounding span is the run's parent. */
  requested?(requestId: string, agent: TracedAgent): void
  /** Called when no more events of this agent come: it was stopped or closed, or it failed. Its open spans are ended. */
  ended?(agent: TracedAgent): void
}
