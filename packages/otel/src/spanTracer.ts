import { context, ROOT_CONTEXT, type Attributes, type Context, type Tracer as ApiTracer } from '@opentelemetry/api'
import type { AgentEvent } from '../../../src/protocol/events.ts'
import type { TracedAgent, TracedEffect, Tracer } from '../../../src/protocol/ports/tracer.ts'
import { AgentTrace, type TraceOptions } from './agentTrace.ts'
import { traceEvent } from './spanRules.ts'

/** Maximum requests whose contexts are kept until their run starts. Beyond that, the oldest become roots. */
const maxRequests = 1_000

/** A tracer that makes spans. It keeps only the open spans and the contexts of waiting requests. */
export class SpanTracer implements Tracer {
  readonly wantsRequests: boolean
  readonly #options: TraceOptions
  readonly #agents = new Map<string, AgentTrace>()
  readonly #requests = new Map<string, Context>()

  constructor(tracer: ApiTracer, { content, attributes }: { content: boolean; attributes: Attributes }) {
    this.wantsRequests = content
    this.#options = {
      tracer,
      content,
      attributes,
      takeParent: (agentId, requestId) => this.#take(requestKey(agentId, requestId)),
    }
  }

  /** Number of agents with an open span, and of requests that wait for their run. */
  get held(): { readonly agents: number; readonly requests: number } {
    return { agents: this.#agents.size, requests: this.#requests.size }
  }

  event(event: AgentEvent, agent: TracedAgent): void {
    const { agentId } = agent
    const known = this.#agents.get(agentId)
    const trace = known ?? new AgentTrace(agent, agent.incognito ? { ...this.#options, content: false } : this.#options)
    traceEvent(trace, event)
    if (trace.isIdle) this.#agents.delete(agentId)
    else if (known === undefined) this.#agents.set(agentId, trace)
  }

  within<T>(effect: TracedEffect, agent: TracedAgent, run: () => T): T {
    const inside = this.#agents.get(agent.agentId)?.enter(effect)
    return inside === undefined ? run() : context.with(inside, run)
  }

  requested(requestId: string, { agentId }: TracedAgent): void {
    const around = context.active()
    if (around === ROOT_CONTEXT) return
    this.#requests.set(requestKey(agentId, requestId), around)
    if (this.#requests.size <= maxRequests) return
    for (const oldest of this.#requests.keys()) {
      this.#requests.delete(oldest)
      break
    }
  }

  ended({ agentId }: TracedAgent): void {
    this.#agents.get(agentId)?.endAll()
    this.#agents.delete(agentId)
    const own = requestKey(agentId, '')
    for (const key of this.#requests.keys()) if (key.startsWith(own)) this.#requests.delete(key)
  }

  #take(key: string): Context | undefined {
    const around = this.#requests.get(key)
    this.#requests.delete(key)
    return around
  }
}

/** Returns a unique key for a request. Agent ids contain no spaces. */
const requestKey = (agentId: string, requestId: string): string => `${agentId} ${requestId}`
