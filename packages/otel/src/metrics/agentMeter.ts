import type { Attributes } from '@opentelemetry/api'
import { isLogged, type AgentEvent, type EventOf } from '../../../../src/protocol/events.ts'
import type { Usage } from '../../../../src/protocol/messages.ts'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import type { TracedAgent, TracedEffect, Tracer } from '../../../../src/protocol/ports/tracer.ts'
import { modelAttributes } from '../genAi.ts'
import type { Instruments } from './instruments.ts'

const chat = { 'gen_ai.operation.name': 'chat' }

/** A start time, and the attributes that stay the same until the end. */
interface Begun {
  readonly at: number
  readonly attributes: Attributes
}

/** Work of one agent that has begun and not ended. */
interface Open {
  /** The run under way. `isJoined`: another process began it. */
  run?: Begun & { readonly isJoined?: true }
  /** The model call under way. */
  asked?: Begun
  wait?: Begun
  readonly calls: Map<string, Begun>
  readonly decisions: Map<string, Begun>
}

/** The place of an event. */
interface Heard {
  readonly agent: TracedAgent
  readonly open: Open
}

type Rules = {
  readonly [T in AgentEvent['type']]?: (meter: AgentMeter, event: EventOf<T>, heard: Heard) => void
}

/** Derives metrics from agents' events: a tracer that makes no spans. It keeps the work under way, and no content. */
export class AgentMeter implements Tracer {
  readonly instruments: Instruments
  readonly #clock: Clock
  readonly #agents = new Map<string, Open>()

  constructor(instruments: Instruments, clock: Clock) {
    this.instruments = instruments
    this.#clock = clock
  }

  /** Number of agents with work under way. */
  get held(): number {
    return this.#agents.size
  }

  event(event: AgentEvent, agent: TracedAgent): void {
    if (isLogged(event)) this.instruments.add('escapement.log.records', 1)
    const rule = rules[event.type] as ((meter: AgentMeter, event: AgentEvent, heard: Heard) => void) | undefined
    if (rule === undefined) return
    const { agentId } = agent
    const known = this.#agents.get(agentId)
    const open = known ?? { calls: new Map(), decisions: new Map() }
    rule(this, event, { agent, open })
    if (isOver(open)) this.#agents.delete(agentId)
    else if (known === undefined) this.#agents.set(agentId, open)
  }

  within<T>(effect: TracedEffect, agent: TracedAgent, run: () => T): T {
    const open = effect.type === 'model' ? this.#agents.get(agent.agentId) : undefined
    if (open !== undefined && effect.type === 'model')
      open.asked = { at: this.#clock.now(), attributes: { ...chat, ...modelAttributes(effect.model ?? agent.model) } }
    return run()
  }

  ended(agent: TracedAgent): void {
    const open = this.#agents.get(agent.agentId)
    if (open === undefined) return
    this.#agents.delete(agent.agentId)
    this.endRun(open)
    this.endWait(open)
    for (const { attributes } of open.calls.values()) this.instruments.add('escapement.tool.active', -1, attributes)
    for (const { attributes } of open.decisions.values())
      this.instruments.add('escapement.decision.waiting', -1, attributes)
  }

  /** Notes that a run is no longer under way. */
  endRun(open: Open): Open['run'] {
    const { run } = open
    delete open.run
    if (run !== undefined) this.instruments.add('escapement.run.active', -1, run.attributes)
    return run
  }

  /** Notes that a model call no longer waits. */
  endWait(open: Open): Begun | undefined {
    const { wait } = open
    delete open.wait
    if (wait !== undefined) this.instruments.add('escapement.model.waiting', -1, modelOf(wait.attributes))
    return wait
  }

  /** Ends a model call. */
  endAsked(open: Open, at: number, attributes: Attributes): void {
    const { asked } = open
    delete open.asked
    this.endWait(open)
    if (asked === undefined) return
    const all = { ...asked.attributes, ...attributes }
    this.instruments.record('gen_ai.client.operation.duration', secondsSince(asked, at), all)
  }

  /** Counts the tokens of a request. `response` is set for a reply, which the conventions have metrics for too. */
  spend(
    usage: Usage,
    costUsd: number | undefined,
    about: { readonly kind: string } & Heard,
    response?: Attributes,
  ): void {
    const { agent, open, kind } = about
    const { input, output, cacheRead, cacheWrite } = usage
    const name = { 'gen_ai.agent.name': agent.name }
    const model = modelOf(open.asked?.attributes ?? modelAttributes(agent.model))
    const all = input + cacheRead + cacheWrite
    for (const [token, count] of Object.entries({ input, cache_read: cacheRead, cache_write: cacheWrite, output }))
      if (count > 0)
        this.instruments.add('escapement.tokens', count, { 'escapement.token.kind': token, ...model, ...name })
    if (costUsd !== undefined && costUsd > 0)
      this.instruments.add('escapement.cost_usd', costUsd, { 'escapement.cost.kind': kind, ...name })
    if (response === undefined) return
    for (const [type, count] of Object.entries({ input: all, output }))
      this.instruments.record('gen_ai.client.token.usage', count, {
        ...chat,
        'gen_ai.token.type': type,
        ...model,
        ...response,
      })
    if (all > 0) this.instruments.record('escapement.cached_share', cacheRead / all, model)
  }

  /** Begins to time a call's wait for people. */
  waitForPeople(open: Open, { callId, time }: { readonly callId: string; readonly time: number }, why: string): void {
    if (open.decisions.has(callId)) return
    const attributes = { 'escapement.wait.reason': why }
    open.decisions.set(callId, { at: time, attributes })
    this.instruments.add('escapement.decision.waiting', 1, attributes)
  }

  /** Ends a call's wait for people, with its duration if somebody decided. */
  endDecision(open: Open, callId: string, decidedAt?: number): void {
    const begun = open.decisions.get(callId)
    if (begun === undefined) return
    open.decisions.delete(callId)
    this.instruments.add('escapement.decision.waiting', -1, begun.attributes)
    if (decidedAt !== undefined)
      this.instruments.record('escapement.decision.wait.duration', secondsSince(begun, decidedAt), begun.attributes)
  }
}

const isOver = ({ run, asked, wait, calls, decisions }: Open): boolean =>
  run === undefined && asked === undefined && wait === undefined && calls.size === 0 && decisions.size === 0

/** Returns the seconds since a start, at least 0, because the clock may have been set back. */
const secondsSince = ({ at }: Begun, now: number): number => Math.max(0, now - at) / 1_000

const modelOf = (attributes: Attributes): Attributes => ({
  'gen_ai.provider.name': attributes['gen_ai.provider.name'],
  'gen_ai.request.model': attributes['gen_ai.request.model'],
})

/** Returns the attributes of a failed call. A call that the runtime itself answered counts only if its outcome is unknown. */
function failureOf({ message: { isError, synthetic } }: EventOf<'tool.end'>): Attributes {
  if (synthetic !== undefined) return synthetic === 'interrupted' ? { 'error.type': synthetic } : {}
  return isError ? { 'error.type': 'tool_error' } : {}
}

/** Costs outside of replies, by kind. */
const drained =
  (kind: string) =>
  (
    meter: AgentMeter,
    { usage, costUsd }: { readonly usage?: Usage; readonly costUsd?: number | undefined },
    heard: Heard,
  ): void => {
    if (usage !== undefined) meter.spend(usage, costUsd, { kind, ...heard })
  }

const rules: Rules = {
  'run.start'(meter, { time }, { agent, open }) {
    meter.endRun(open)
    const attributes = { 'gen_ai.agent.name': agent.name }
    open.run = { at: time, attributes }
    meter.instruments.add('escapement.run.active', 1, attributes)
  },
  'run.end'(meter, { time, stopReason, error }, { open }) {
    const run = meter.endRun(open)
    delete open.asked
    meter.endWait(open)
    // A run that pauses is no longer under way; what waits for people goes on waiting.
    const failure = error === undefined ? {} : { 'error.type': error.code }
    if (error !== undefined) meter.instruments.add('escapement.errors', 1, { 'escapement.error.of': 'run', ...failure })
    if (run === undefined || run.isJoined) return
    const attributes = { ...run.attributes, 'escapement.run.stop_reason': stopReason, ...failure }
    meter.instruments.record('escapement.run.duration', secondsSince(run, time), attributes)
  },
  'turn.start'(meter, { time }, { agent, open }) {
    if (open.run !== undefined) return
    const attributes = { 'gen_ai.agent.name': agent.name }
    open.run = { at: time, attributes, isJoined: true }
    meter.instruments.add('escapement.run.active', 1, attributes)
  },
  'turn.end'(meter, _, { agent }) {
    meter.instruments.add('escapement.turns', 1, { 'gen_ai.agent.name': agent.name })
  },
  'model.waiting'(meter, { model, why, time }, { open }) {
    meter.endWait(open)
    const about = modelAttributes(model)
    open.wait = { at: time, attributes: { ...about, 'escapement.wait.reason': why } }
    meter.instruments.add('escapement.model.waiting', 1, about)
  },
  'model.waited'(meter, { ms, time }, { open }) {
    const wait = meter.endWait(open)
    if (wait !== undefined) meter.instruments.record('escapement.model.wait.duration', ms / 1_000, wait.attributes)
    // Latency is that of the model: it is asked only now.
    if (open.asked !== undefined) open.asked = { ...open.asked, at: time }
  },
  'reply.start'(meter, { time, model }, { open }) {
    if (open.asked === undefined) return
    if (model !== undefined)
      open.asked = { ...open.asked, attributes: { ...open.asked.attributes, ...modelAttributes(model) } }
    const { asked } = open
    meter.instruments.record('gen_ai.client.operation.time_to_first_chunk', secondsSince(asked, time), asked.attributes)
  },
  'reply.end'(meter, { time, message, costUsd }, heard) {
    const { usage, model, responseModel, stopReason } = message
    const response = {
      'gen_ai.response.model': responseModel ?? modelAttributes(model)['gen_ai.request.model'],
    }
    meter.spend(usage, costUsd, { kind: 'reply', ...heard }, response)
    const failure = stopReason === 'aborted' ? { 'error.type': 'aborted' } : {}
    meter.endAsked(heard.open, time, { ...response, ...failure })
  },
  'reply.reset'(meter, { time, error, usage, costUsd, next }, heard) {
    const failure = { 'error.type': error.code }
    meter.instruments.add('escapement.errors', 1, { 'escapement.error.of': 'model', ...failure })
    if (usage !== undefined) meter.spend(usage, costUsd, { kind: 'reply', ...heard })
    meter.endAsked(heard.open, time, failure)
    // Another model is asked at once, in the same effect.
    if (next !== undefined) heard.open.asked = { at: time, attributes: { ...chat, ...modelAttributes(next) } }
  },
  'tool.start'(meter, { time, callId, name }, { open }) {
    if (open.calls.has(callId)) return
    const attributes = { 'gen_ai.tool.name': name }
    open.calls.set(callId, { at: time, attributes })
    meter.instruments.add('escapement.tool.active', 1, attributes)
  },
  'tool.end'(meter, event, { open }) {
    const { callId, time } = event
    meter.endDecision(open, callId)
    const begun = open.calls.get(callId)
    if (begun === undefined) return
    open.calls.delete(callId)
    meter.instruments.add('escapement.tool.active', -1, begun.attributes)
    const attributes = { ...begun.attributes, ...failureOf(event) }
    meter.instruments.record('escapement.tool.duration', secondsSince(begun, time), attributes)
  },
  'approval.requested': (meter, event, { open }) => meter.waitForPeople(open, event, 'approval'),
  'approval.decided': (meter, { callId, time }, { open }) => meter.endDecision(open, callId, time),
  'question.asked': (meter, event, { open }) => meter.waitForPeople(open, event, 'question'),
  'question.answered': (meter, { callId, time }, { open }) => meter.endDecision(open, callId, time),
  'compaction.end': drained('compaction'),
  'revert.applied': drained('revert'),
  'policy.end': drained('policy'),
  error(meter, { error }) {
    meter.instruments.add('escapement.errors', 1, { 'escapement.error.of': 'agent', 'error.type': error.code })
  },
}
