import {
  createRuntime,
  defineAgent,
  defineTool,
  type Block,
  type ModelPart,
  type ModelRequest,
  type Tool,
} from '../../../../src/index.ts'
import { Random } from '../generate/random.ts'
import { addTo, idealCache, noTokens } from '../measure/cacheMeter.ts'
import { costOf, type PriceRatios } from '../measure/prices.ts'
import { BlockTable } from '../measure/requestBlocks.ts'
import { counter, tokensWritten } from '../measure/tokens.ts'
import { text } from '../readers/shapes.ts'
import type { AgentShape } from '../policies/policy.ts'
import { blocksOf, lastWords, type MadeStep, type Scenario } from './generate/scenario.ts'
import { tools } from './generate/tools.ts'

export interface Reacted {
  readonly cost: number
  readonly requests: number
  /** The work was done; otherwise the run was paused, for its limit or for a loop. */
  readonly isDone: boolean
  readonly reverts: number
}

/**
 * Runs a scenario whose model reacts: it repeats its loop until it reads a new note about it, or a new lesson of a revert, and obeys each
 * of them with this probability; then it continues as after the loop. Its decisions depend only on the request.
 */
export async function react(
  scenario: Scenario,
  braking: AgentShape['braking'],
  obedience: number,
  ratios: PriceRatios,
  seed: number,
): Promise<Reacted> {
  const model = new ReactingModel(scenario, obedience, new Random(seed))
  const runtime = await createRuntime()
  let reverts = 0
  try {
    const agent = await runtime.spawn(
      defineAgent({
        name: 'reacting',
        model: { id: 'replay:reacting', stream: (request) => model.reply(request) },
        instructions: scenario.system,
        tools: model.tools(),
        tokenCounter: counter,
        compaction: false,
        checkRequests: true,
        limits: { turns: scenario.before.length + scenario.loop.length + (scenario.endsByItself ? 100 : 0) },
        ...(braking === undefined ? {} : { braking }),
      }),
    )
    agent.subscribe((event) => {
      if (event.type === 'revert.applied' && event.applied) reverts += 1
    })
    const { stopReason, error } = await agent.prompt(scenario.task).result
    if (error !== undefined) throw new Error(`${scenario.kind}: ${error.message}`)
    return { ...model.bill(ratios), isDone: stopReason === 'stop', reverts }
  } finally {
    await runtime.close()
  }
}

class ReactingModel {
  readonly #scenario: Scenario
  readonly #obedience: number
  readonly #random: Random
  readonly #way: MadeStep[]
  readonly #cache = idealCache()
  readonly #table = new BlockTable()
  readonly #spent = { ...noTokens, requests: 0 }
  readonly #heard = new Set<string>()
  readonly #results = new Map<string, MadeStep['calls'][number]>()
  #made = 0
  #next = 0

  constructor(scenario: Scenario, obedience: number, random: Random) {
    this.#scenario = scenario
    this.#obedience = obedience
    this.#random = random
    this.#way = [...scenario.before, ...scenario.loop, ...scenario.after]
  }

  bill(ratios: PriceRatios): { readonly cost: number; readonly requests: number } {
    return { cost: costOf(this.#spent, ratios), requests: this.#spent.requests }
  }

  async *reply(request: ModelRequest): AsyncGenerator<ModelPart> {
    const { before, loop } = this.#scenario
    const afterLoop = before.length + loop.length
    const isInLoop = this.#next > before.length && this.#next < afterLoop
    for (const note of notesIn(request))
      if (!this.#heard.has(note)) {
        this.#heard.add(note)
        if (isInLoop && this.#random.chance(this.#obedience)) this.#next = afterLoop
      }
    const step = this.#way[this.#next++]
    const content = step === undefined ? [text(lastWords)] : this.#makeCalls(step)
    this.#spent.requests += 1
    addTo(this.#spent, { ...this.#cache.bill(this.#table.blocksOf(request)), output: tokensWritten(content) })
    const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
    yield { type: 'done', reply: { content, stopReason: step === undefined ? 'stop' : 'toolUse', usage } }
  }

  #makeCalls(step: MadeStep): Block[] {
    const id = `c${(this.#made += 1)}`
    for (const [at, made] of step.calls.entries()) this.#results.set(`${id}-${at}`, made)
    return blocksOf(step, id)
  }

  tools(): Tool[] {
    return tools.map(({ name, description, inputSchema }): Tool => {
      const tool = defineTool({
        name,
        description,
        input: { jsonSchema: { type: 'object' } },
        effects: 'none',
        polls: name === 'build_state',
        run: (_, { callId, changed: report }) => {
          const { output, isError = false, changed = [] } = this.#results.get(callId)!
          for (const path of changed) report(path)
          if (isError) throw new Error(output)
          return output
        },
      })
      return { ...tool, inputSchema }
    })
  }
}

/** Texts of the runtime about loops: its notes, and the lessons of reverts. */
const notesIn = ({ messages }: ModelRequest): string[] =>
  messages
    .flatMap(({ content }) => content.flatMap((block) => (block.type === 'text' ? [block.text] : [])))
    .filter((said) => /^<brake-note kind="(?:stall|lesson)"/.test(said))
