import { setImmediate } from 'node:timers/promises'
import { type Clock, systemClock } from '../../../src/protocol/ports/clock.ts'
import {
  createRuntime,
  defineAgent,
  deferred,
  defineTool,
  type Agent,
  type AgentEvent,
  type Block,
  type ConversationNode,
  type Model,
  type ModelPart,
  type ModelRequest,
  type Run,
  type Runtime,
  type Tool,
  type ToolSpec,
  type Usage,
} from '../../../src/index.ts'
import { checkRequest } from '../../../src/sessions.ts'
import type { CacheName } from './measure/cacheMeter.ts'
import { counter } from './measure/tokens.ts'
import type { AgentShape, Script, ShapeWithModel } from './policies/policy.ts'
import { standInModel } from './policies/standInModel.ts'
import type { StreamOptions } from '../../../src/actors/models/openStream.ts'
import { noteLate } from './measure/cacheMarks.ts'
import { noUsage, Provider } from './provider.ts'
import { isStep, type RecordedSession, type StepTurn, type UserTurn } from './recordedSession.ts'

/** Cause of a change in the model's view of the conversation since the request before. */
export type Cause = 'revert' | 'compaction' | 'fold' | 'policy' | 'prune' | 'masking' | 'tag expiry'

/** A request as it reached the model. */
export interface SentRequest {
  readonly request: ModelRequest
  /** The turn whose recorded reply answered it; `null` if a script's own reply did. */
  readonly turn: number | null
  readonly reply: readonly Block[]
  /** When it was sent, in milliseconds since the first one. */
  readonly at: number
  readonly causes: readonly Cause[]
}

/** A request to the model that policies and strategies ask. */
export type AskedRequest = Pick<SentRequest, 'request' | 'reply'>

/** A loop that the runtime noticed, and what it did. */
export type SeenStall = Extract<AgentEvent, { readonly type: 'stall.detected' }>

export interface Replay {
  readonly requests: readonly SentRequest[]
  readonly asked: readonly AskedRequest[]
  /** Requests that some provider would refuse, each with what is wrong. */
  readonly invalid: readonly string[]
  /** Requests that were refused, such as a revert. */
  readonly refused: readonly string[]
  /** Everything that was said, of all branches. */
  readonly log: readonly ConversationNode[]
  readonly stalls: readonly SeenStall[]
  /** Why it ended before the recording did. */
  readonly failure?: string
}

const nothing: AgentShape = { compaction: false }
/** A moment for the first request. */
const start = Date.UTC(2026, 0, 1)

/** Assumptions of a replay beside the session. */
export interface ReplayOptions {
  /** The provider's cache. Only an ideal one, the default, is not reported to the agent. */
  readonly cache?: CacheName
}

/**
 * Runs the session through an agent of the product: its model repeats the recorded replies, its tools the recorded results, and people
 * speak where they spoke, after the recorded time. `script` adds what a policy would have the model or a person do.
 */
export async function replay(
  session: RecordedSession,
  shape: AgentShape | ShapeWithModel = nothing,
  script: Script = {},
  options: ReplayOptions = {},
): Promise<Replay> {
  return await new Replaying(session, shape, script, options).run()
}

/** The step of each call, which of its results answers the call, and the turn after it. */
type Answers = ReadonlyMap<string, { readonly step: StepTurn; readonly index: number; readonly next: number }>

class Replaying {
  readonly #session: RecordedSession
  readonly #shape: AgentShape
  readonly #script: Script
  readonly #requests: SentRequest[] = []
  readonly #asked: AskedRequest[] = []
  readonly #invalid: string[] = []
  readonly #refused: string[] = []
  readonly #stalls: SeenStall[] = []
  #agent: Agent | undefined
  /** The turn that comes next. */
  #next = 0
  #causes: Cause[] = []
  #own = 0
  readonly #cache: CacheName
  readonly #provider: Provider
  /** Time since the first request, as recorded. */
  #at = 0
  /** Replies and calls take no time but what was recorded from one request to the next. */
  readonly #clock: Clock = { now: () => start + this.#at, after: systemClock.after }

  constructor(
    session: RecordedSession,
    shape: AgentShape | ShapeWithModel,
    script: Script,
    { cache = 'ideal' }: ReplayOptions,
  ) {
    this.#session = session
    this.#cache = cache
    this.#provider = new Provider(cache, session.unit)
    this.#shape = typeof shape === 'function' ? shape(this.#standIn()) : shape
    this.#script = script
  }

  async run(): Promise<Replay> {
    const runtime = await createRuntime({ clock: this.#clock })
    try {
      const failure = await this.#runIn(runtime)
      const replayed = {
        requests: this.#requests,
        asked: this.#asked,
        invalid: this.#invalid,
        refused: this.#refused,
        stalls: this.#stalls,
        log: this.#agent?.conversation.log() ?? [],
      }
      return failure === undefined ? replayed : { ...replayed, failure }
    } finally {
      await runtime.close()
    }
  }

  async #runIn(runtime: Runtime): Promise<string | undefined> {
    const { system, turns, tools, deferred: others = [] } = this.#session
    const answers = this.#answers()
    const toolOf = (spec: ToolSpec): Tool => this.#toolOf(spec, answers)
    const definition = defineAgent({
      name: 'replayed',
      model: this.#model(),
      instructions: system,
      tools: [...tools.map(toolOf), ...(others.length === 0 ? [] : [deferred(others.map(toolOf))])],
      tokenCounter: counter,
      queueMode: 'all',
      maxCallsPerReply: 10_000,
      retry: { attempts: 1 },
      checkRequests: true,
      ...(this.#cache === '1h' && { cache: { ttl: '1h' } }),
      ...this.#shape,
    })
    const agent = await runtime.spawn(definition)
    this.#agent = agent
    agent.subscribe((event) => this.#hear(event))
    while (this.#next < turns.length) {
      const at = this.#next
      const { content } = this.#takeUser()
      this.#pass()
      this.#script.atRest?.(at, agent)
      let failure = await failureOf(agent.prompt([...content]))
      while (agent.pause?.type === 'stall' && this.#script.resumes === true) failure = await failureOf(agent.resume())
      // Policies may be asked at rest; the next message would cut them short.
      while (agent.state.startsWith('draining')) await setImmediate()
      if (failure !== undefined) return `turn ${this.#next}: ${failure}`
      if (this.#next < turns.length && turns[this.#next]!.type === 'step')
        return `turn ${this.#next}: the run ended before the recorded one did`
    }
    return undefined
  }

  /** Lets the time pass until the next request. */
  #pass(): void {
    const next = this.#session.turns.slice(this.#next, this.#next + 2).find(isStep)
    this.#at = Math.max(this.#at, next?.at ?? 0)
  }

  #takeUser(): UserTurn {
    const turn = this.#session.turns[this.#next]!
    if (isStep(turn)) throw new Error(`turn ${this.#next} is a reply that nobody asked for`)
    this.#next += 1
    return turn
  }

  #standIn(): Model {
    return standInModel({
      agent: () => this.#agent!,
      sent: (request, reply) => this.#asked.push({ request, reply }),
    })
  }

  #model(): Model {
    return {
      id: 'replay:recorded',
      stream: (request, { comesLate }: Pick<StreamOptions, 'signal' | 'comesLate'>) => {
        if (comesLate === true) noteLate(request)
        return this.#reply(request)
      },
    }
  }

  async *#reply(request: ModelRequest): AsyncGenerator<ModelPart> {
    const turn = this.#session.turns[this.#next]
    // After the last recorded results the agent asks once more; nobody recorded that request.
    if (turn === undefined || !isStep(turn)) return yield* done([{ type: 'text', text: '(the recording ends here)' }])
    for (const { rule, message } of checkRequest(request))
      this.#invalid.push(`turn ${this.#next}: rule ${rule}: ${message}`)
    const own = this.#script.beforeReply?.(this.#next, request, this.#agent!)
    const reply = own === undefined ? turn.content : own.map((block) => this.#owned(block))
    this.#requests.push({
      request,
      turn: own === undefined ? this.#next : null,
      reply,
      at: this.#at,
      causes: this.#causes,
    })
    this.#causes = []
    if (own === undefined) this.#next += 1
    yield* done(reply, this.#provider.usageOf(request, reply, this.#at))
  }

  #owned(block: Block): Block {
    return block.type === 'toolCall' ? { ...block, callId: `${scriptedCall}${(this.#own += 1)}` } : block
  }

  #answers(): Answers {
    const answers = new Map<string, { step: StepTurn; index: number; next: number }>()
    this.#session.turns.forEach((step, at) => {
      if (isStep(step)) callsOf(step).forEach(({ callId }, index) => answers.set(callId, { step, index, next: at + 1 }))
    })
    return answers
  }

  #toolOf({ name, description, inputSchema }: ToolSpec, answers: Answers): Tool {
    const tool = defineTool({
      name,
      description: description === '' ? name : description,
      input: { jsonSchema: { type: 'object' } },
      effects: 'none',
      timeoutMs: Infinity,
      maxOutputChars: Number.MAX_SAFE_INTEGER,
      polls: this.#session.polling?.includes(name) ?? false,
      run: (_, { callId, changed: report }) => {
        const { step, index, next } = answers.get(callId)!
        const { content, isError, changed = [] } = step.results[index]!
        for (const path of changed) report(path)
        if (index === step.results.length - 1) {
          this.#steer(next)
          this.#pass()
        }
        if (isError) throw new Error(content.map((block) => (block.type === 'text' ? block.text : '')).join('\n'))
        return content
      },
    })
    // The model is shown the recorded schema; its recorded arguments are taken as they are.
    return { ...tool, inputSchema }
  }

  /** Steers the agent with messages that people sent while the call ran. */
  #steer(next: number): void {
    const turn = this.#session.turns[next]
    if (turn === undefined || isStep(turn) || this.#next !== next) return
    this.#agent!.steer([...this.#takeUser().content])
  }

  #hear(event: AgentEvent): void {
    const cause = causeOf(event)
    if (cause !== undefined) this.#causes.push(cause)
    if (event.type === 'stall.detected') this.#stalls.push(event)
    if ((event.type === 'revert.applied' || event.type === 'prune.applied') && !event.applied)
      this.#refused.push(event.reason ?? event.type)
    if (event.type === 'policy.end' && event.outcome === 'failed')
      this.#refused.push(`${event.policy}: ${event.reason ?? ''}`)
    if (event.type === 'compaction.end' && !event.applied) this.#refused.push(`compaction: ${event.reason ?? ''}`)
  }
}

/** How call ids of a script's own replies begin. */
export const scriptedCall = 'scripted-'

export const callsOf = ({ content }: StepTurn) => content.filter((block) => block.type === 'toolCall')

async function* done(content: readonly Block[], usage: Usage = noUsage): AsyncGenerator<ModelPart> {
  const stopReason = content.some(({ type }) => type === 'toolCall') ? 'toolUse' : 'stop'
  yield { type: 'done', reply: { content, stopReason, usage } }
}

async function failureOf(run: Run): Promise<string | undefined> {
  const { stopReason, error } = await run.result
  return error === undefined
    ? stopReason === 'stop'
      ? undefined
      : `the run ended: ${stopReason}`
    : `${error.code}: ${error.message}`
}

function causeOf(event: AgentEvent): Cause | undefined {
  switch (event.type) {
    case 'revert.applied':
      return event.applied ? 'revert' : undefined
    case 'compaction.end':
      return event.applied ? 'compaction' : undefined
    case 'prune.applied':
      if (!event.applied) return undefined
      if (event.policy !== undefined) return 'policy'
      return 'by' in event && event.by === 'runtime' ? 'fold' : 'prune'
    case 'tag.expired':
      return 'tag expiry'
    default:
      return undefined
  }
}
