import { toReply, partsOf, type ReplyShape } from '../../packages/models/src/replyShape.ts'
import { pause } from '../../src/protocol/ports/pause.ts'
import type { AgentDefinition } from '../../src/actors/define/agentDefinition.ts'
import { defineAgent } from '../../packages/define/src/defineAgent.ts'
import type { Tool } from '../../src/actors/tools/defineTool.ts'
import { checkRequest } from '../../src/conversation/request/checkRequest.ts'
import { estimateTokens } from '../../src/conversation/limits/tokenCounter.ts'
import type { Model, ModelRequest } from '../../src/protocol/ports/model.ts'
import type { SimulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { tool } from '../support/agentHarness.ts'
import type { ChaosPlan } from './chaosPlan.ts'
import type { Dice } from './dice.ts'

/** A call of a model or a tool that the world has begun: somebody must end it or tell it to stop. */
interface Effect {
  readonly name: string
  readonly signal: AbortSignal
  isOver: boolean
}

/** The definitions of a chaotic tree, and what their models and tools lived through. */
export class ChaosAgents {
  readonly root: AgentDefinition
  /** One more agent that code may attach. */
  readonly guest: AgentDefinition
  readonly effects: Effect[] = []
  /** In words: requests that some provider would refuse. */
  readonly faults: string[] = []
  crashes = 0
  /** Nothing goes wrong any more. */
  isCalm = false
  readonly #plan: ChaosPlan
  readonly #dice: Dice
  readonly #clock: SimulatedClock
  readonly #deaf: (() => void)[] = []
  #begun = 0

  constructor(plan: ChaosPlan, dice: Dice, clock: SimulatedClock) {
    this.#plan = plan
    this.#dice = dice
    this.#clock = clock
    let below: AgentDefinition | undefined
    for (let level = plan.depth; level > 0; level -= 1) below = this.#define(level, below)
    this.root = this.#define(0, below)
    this.guest = this.#define(plan.depth, undefined)
  }

  /** Lets tools and models that hear nothing come to their end. */
  releaseDeaf(): void {
    for (const release of this.#deaf.splice(0)) release()
  }

  #define(level: number, below: AgentDefinition | undefined): AgentDefinition {
    const { restart, maxRestarts, backoffMs, stallMs, maxChildren, toolExecution, depth, limits } = this.#plan
    const options = { restart, maxRestarts, backoffMs, ...(stallMs === Infinity ? {} : { stallMs }) }
    return defineAgent({
      name: `level${level}`,
      model: this.#model(level),
      tools: this.#tools(),
      agents: below === undefined ? [] : [{ definition: below, ...options }],
      maxDepth: depth,
      maxChildren,
      toolExecution,
      limits: level === 0 ? limits : {},
      pricing: { input: 1, output: 4 },
      retry: { attempts: 2, baseMs: 50, maxMs: 100 },
      compaction: false,
      tokenCounter: level > 0 || this.#plan.rootCrashes ? this.#counter() : estimateTokens,
    })
  }

  /** A defect: counting the tokens of a result throws in the middle of a step. */
  #counter(): typeof estimateTokens {
    return {
      ...estimateTokens,
      message: (message) => {
        const mayCrash = !this.isCalm && message.role === 'toolResult' && Object.isFrozen(message)
        if (mayCrash && this.crashes < this.#plan.crashes && this.#dice.percent(20)) {
          this.crashes += 1
          throw new Error('a defect')
        }
        return estimateTokens.message(message)
      },
    }
  }

  #model(level: number): Model {
    const begin = this.#begin.bind(this)
    const act = this.#act.bind(this)
    return {
      id: 'test:chaos',
      async *stream(request, { signal }) {
        const effect = begin(`model of level${level}`, signal)
        try {
          yield* act(level, request, signal)
        } finally {
          effect.isOver = true
        }
      },
    }
  }

  async *#act(level: number, request: ModelRequest, signal: AbortSignal): ReturnType<Model['stream']> {
    for (const { rule, message } of checkRequest(request)) this.faults.push(`request: rule ${rule}: ${message}`)
    const dice = this.#dice
    if (!this.isCalm && dice.percent(this.#plan.modelErrors)) {
      const kind = dice.pick(['network', 'rateLimited', 'auth', 'other'] as const)!
      if (dice.percent(20)) throw new Error('the model threw')
      if (dice.percent(10)) await new Promise<void>((resolve) => this.#deaf.push(resolve))
      yield { type: 'error', error: { kind, message: kind, ...(kind === 'rateLimited' ? { retryAfterMs: 300 } : {}) } }
      return
    }
    const slow = !this.isCalm && dice.percent(30)
    const turn = request.messages.filter(({ role }) => role === 'assistant').length
    const reply = toReply(this.#decide(level, request, turn), request, turn)
    // Below what the runtime expects of the request, so that budgets can be checked to the token.
    const output = Math.min(request.settings.maxTokens ?? Infinity, dice.int(1, 150))
    const usage = { ...reply.usage, input: Math.ceil(reply.usage.input / 5), output }
    for (const part of partsOf({ ...reply, usage })) {
      if (slow) await pause(dice.int(1, 60), this.#clock, signal)
      if (signal.aborted && dice.percent(90)) return
      yield part
    }
  }

  #decide(level: number, { settings, tools }: ModelRequest, turn: number): ReplyShape {
    const dice = this.#dice
    const most = settings.maxTokens ?? Infinity
    const words = 'word '.repeat(dice.int(1, 12)).slice(0, Math.min(60, Math.max(1, Math.floor((most - 4) * 2))))
    const isLast = this.isCalm || turn >= 3 || most < 200 || dice.percent(turn === 0 ? 5 : 40)
    if (isLast) return words
    const below = tools.find(({ name }) => name.startsWith('level'))
    const callees =
      below === undefined
        ? 0
        : Math.min(dice.int(turn === 0 ? 1 : 0, this.#plan.fanOut), this.#plan.agents - this.#begun)
    this.#begun += Math.max(0, callees)
    const names = [
      ...Array.from({ length: Math.max(0, callees) }, () => below!.name),
      ...Array.from({ length: callees > 0 && dice.percent(60) ? 0 : dice.int(1, 2) }, () => dice.pick(toolNames)!),
    ]
    const toolCalls = names.map((name) => ({ name, input: inputOf(name, level, dice) }))
    return { text: words, toolCalls }
  }

  #tools(): Tool[] {
    const { run } = this
    return toolNames.map((name) =>
      tool(name, (_, { signal }) => run(name, signal), {
        effects: name === 'once' ? 'irreversible' : 'none',
        needsApproval: name === 'guarded',
        ...(name === 'slow' ? { timeoutMs: 300 } : {}),
      }),
    )
  }

  readonly run = async (name: string, signal: AbortSignal): Promise<string> => {
    const effect = this.#begin(name, signal)
    try {
      if (name === 'slow') await pause(this.#dice.int(1, 400), this.#clock, signal)
      if (name === 'deaf' && !this.isCalm) await new Promise<void>((resolve) => this.#deaf.push(resolve))
      if (name === 'faulty') throw new Error('the tool broke')
      return 'done '.repeat(this.#dice.int(1, 20))
    } finally {
      effect.isOver = true
    }
  }

  #begin(name: string, signal: AbortSignal): Effect {
    const effect = { name, signal, isOver: false }
    this.effects.push(effect)
    return effect
  }
}

const toolNames = ['quick', 'slow', 'once', 'guarded', 'faulty', 'deaf'] as const

/** Now and then arguments that do not fit. */
const inputOf = (name: string, level: number, dice: Dice): unknown =>
  name.startsWith('level') ? (dice.percent(4) ? { task: '', extra: 1 } : { task: `work for level ${level + 1}` }) : {}
