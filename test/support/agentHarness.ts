import { defineAgent } from '../../packages/define/src/defineAgent.ts'
import type { AgentOptions } from '../../src/actors/define/defineAgent.ts'
import {
  scriptedModel,
  type ScriptedModel,
  type ScriptedReply,
} from '../../packages/evaluation/src/testing/scriptedModel.ts'
import type { RedactOptions } from '../../packages/redaction/src/redactor.ts'
import { isToolSource } from '../../src/actors/tools/toolSource.ts'
import { defineTool } from '../../packages/schemas/src/defineTool.ts'
import type { Tool, ToolOptions } from '../../src/actors/tools/defineTool.ts'
import type { Conversation } from '../../src/conversation/tree/conversation.ts'
import { noUsage, type Block, type Usage } from '../../src/protocol/messages.ts'
import type { AgentEvent, EventOf } from '../../src/protocol/events.ts'
import type { Model, ModelPart, ModelReply } from '../../src/protocol/ports/model.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import type { Agent } from '../../src/runtime/agents/agent.ts'
import { createRuntime, type Runtime } from '../../packages/bridge/src/createRuntime.ts'
import { simulatedClock, type SimulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { z } from 'zod'
import { checkJourney, requestFaults } from './journeyRules.ts'
import { assert, type CaseContext } from './suite.ts'

export interface HarnessOptions extends Partial<Omit<AgentOptions, 'model'>> {
  /** The script of the model; or give `model`. */
  readonly replies?: readonly ScriptedReply[]
  readonly model?: Model
  readonly store?: Store
  readonly random?: () => number
  readonly redact?: RedactOptions
  readonly id?: string
  readonly clock?: SimulatedClock
  /** `false` leaves the checks at the end out: for tests that end with a store that does not work. */
  readonly check?: boolean
  /** System and tools may change within a run; found out by itself where the definition has a say. */
  readonly reframes?: boolean
}

export interface Harness {
  readonly runtime: Runtime
  readonly agent: Agent
  readonly clock: SimulatedClock
  readonly store: Store
  /** The scripted model; its `requests` are what the agent asked for. */
  readonly script: ScriptedModel
  /** Everything a subscriber saw, from the spawn on. */
  readonly events: readonly AgentEvent[]
  ofType<T extends AgentEvent['type']>(type: T): EventOf<T>[]
  types(): AgentEvent['type'][]
  /** Resolves with the first event, past or to come, that fits. */
  until(fits: (event: AgentEvent) => boolean): Promise<AgentEvent>
  /** Resolves once the agent is in the state. */
  untilState(state: string): Promise<void>
  records(): Promise<LogRecord[]>
}

/** An agent under a simulated clock, with its events collected; after the case it is stopped and its whole life is checked. */
export async function startAgent(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  options: HarnessOptions = {},
): Promise<Harness> {
  const {
    replies = [],
    model,
    store = memoryStore(),
    random = () => 0,
    redact,
    id = 'a1',
    clock = simulatedClock(),
    check = true,
    reframes = mayReframe(options),
    ...rest
  } = options
  const script = scriptedModel(replies)
  const faults: string[] = []
  const born: { agent?: Agent } = {}
  const watched = watchRequests(model ?? script, faults, () => born.agent, reframes)
  const runtime = await createRuntime({
    store,
    clock,
    random,
    newId: counter('q'),
    ...(redact === undefined ? {} : { redact }),
  })
  cleanup(() => runtime.close().catch(() => {}))
  const agent = await runtime.spawn(defineAgent({ name: 'tester', ...rest, model: watched }), { id })
  born.agent = agent
  const events: AgentEvent[] = []
  const waiting = new Set<() => void>()
  agent.subscribe((event) => {
    events.push(event)
    for (const look of waiting) look()
  })
  const records = async (): Promise<LogRecord[]> => {
    const all: LogRecord[] = []
    for await (const record of store.read(id)) all.push(record)
    return all
  }
  if (check) {
    cleanup(async () => {
      await agent.stop()
      const conversation = agent.conversation as Conversation
      assert.equal(
        // Approvals of sub-agents are heard as well.
        [
          ...faults,
          ...checkJourney({
            events: events.filter(({ agentId }) => agentId === id),
            conversation,
            records: await records(),
          }),
        ],
        [],
        'the rules of every journey',
      )
      assert.is(clock.pending, 0, 'timers left in the clock')
    })
  }
  const when = (holds: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!holds()) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
    })
  return {
    runtime,
    agent,
    clock,
    store,
    script,
    events,
    records,
    ofType: <T extends AgentEvent['type']>(type: T) =>
      events.filter((event): event is EventOf<T> => event.type === type),
    types: () => events.map(({ type }) => type),
    until: async (fits) => {
      await when(() => events.some(fits))
      return events.find(fits)!
    },
    untilState: (state) => when(() => agent.state === state),
  }
}

const mayReframe = ({ instructions, beforeTurn, limits, tools = [] }: HarnessOptions): boolean =>
  typeof instructions === 'function' ||
  beforeTurn !== undefined ||
  limits?.onLimit === 'answer' ||
  (Array.isArray(tools) && tools.some(isToolSource))

function watchRequests(model: Model, faults: string[], agent: () => Agent | undefined, reframes: boolean): Model {
  let previous: Parameters<Model['stream']>[0] | undefined
  return {
    id: model.id,
    stream(request, options) {
      faults.push(...requestFaults(request, { previous, trunk: agent()?.conversation.trunk() ?? [] }))
      if (!reframes) previous = request
      return model.stream(request, options)
    },
  }
}

/** Makes `q1`, `q2`, … */
export function counter(prefix: string): () => string {
  let last = 0
  return () => `${prefix}${++last}`
}

/** A promise that is settled from outside. */
export const gate = <T = void>(): PromiseWithResolvers<T> => Promise.withResolvers<T>()

/** Lets everything that needs no timer happen. */
export const quiet = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

/** The code an error carries. */
export const withCode =
  (code: string, ...texts: readonly string[]) =>
  (thrown: unknown): boolean =>
    thrown instanceof Error &&
    'code' in thrown &&
    thrown.code === code &&
    texts.every((text) => thrown.message.includes(text))

/** A tool that takes any object; `run` gets the input and the context. */
export const tool = (name: string, run: Tool['run'], options: Partial<ToolOptions<z.ZodType>> = {}): Tool =>
  defineTool({ name, description: `The tool ${name}.`, input: z.looseObject({}), ...options, run })

/** A reply that calls tools: `calls('look', 'find')` or `calls(['look', { at: 1 }])`; ids are `c0`, `c1`, …, with a prefix. */
export const calls = (prefix: string, ...wanted: readonly (string | readonly [string, unknown])[]): ScriptedReply => ({
  toolCalls: wanted.map((call, index) => {
    const [name, input] = typeof call === 'string' ? [call, {}] : call
    return { name, input, callId: `${prefix}${index}` }
  }),
})

export const usageOf = (input: number, output: number): Usage => ({ ...noUsage, input, output })

/** The last part of a reply. */
export const done = (content: readonly Block[], reply: Partial<ModelReply> = {}): ModelPart => ({
  type: 'done',
  reply: { content, stopReason: 'stop', usage: usageOf(10, 5), ...reply },
})

export const delta = (text: string): ModelPart => ({ type: 'text.delta', text })

/** A reply that streams these words, waits until `open` resolves, and then ends; it knows nothing of signals. */
export const stalled = (words: readonly string[], open: Promise<unknown>): ScriptedReply => ({
  parts: (async function* () {
    for (const word of words) yield delta(word)
    await open
    yield delta('late')
    yield done([{ type: 'text', text: `${words.join('')}late` }])
  })(),
})

/** A promise that never settles. */
export const never: Promise<never> = new Promise(() => {})

/** The text of every result in a request, in order. */
export const resultsOf = (
  request: { messages: readonly { role: string; content: readonly Block[] }[] } | undefined,
): string[] =>
  (request?.messages ?? [])
    .filter(({ role }) => role === 'toolResult')
    .map(({ content }) => content.map((b) => (b.type === 'text' ? b.text : `<${b.type}>`)).join(''))

/** The text of every user message in a request, in order. */
export const saidIn = (
  request: { messages: readonly { role: string; content: readonly Block[] }[] } | undefined,
): string[] =>
  (request?.messages ?? [])
    .filter(({ role }) => role === 'user')
    .flatMap(({ content }) => content.map((b) => (b.type === 'text' ? b.text : `<${b.type}>`)))
