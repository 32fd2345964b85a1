import { z } from 'zod'
import {
  type Agent,
  type AgentDefinition,
  type AgentOf,
  defineAgent,
  defineTool,
  type CallTypes,
  type DepsOf,
  type OutputOf,
  policyModel,
  type Run,
  type Runtime,
  type RunContext,
  type Tool,
  type ToolContext,
  workspaceTools,
} from '../../src/index.ts'
import { parallel, pipeline } from '../../src/groups.ts'
import { type Equal, expectType } from './typeEquality.ts'

interface Shop {
  readonly orders: Map<string, number>
}
interface Mail {
  readonly send: (text: string) => void
}

const model = policyModel(() => 'hello')
const input = z.object({ id: z.string() })

// A tool says what it needs by the type of its context.
const find = defineTool({
  name: 'find',
  description: 'Find an order.',
  input,
  run: ({ id }, { deps }: ToolContext<Shop>) => {
    expectType<Equal<typeof id, string>>()
    return deps.orders.get(id)
  },
})
expectType<Equal<typeof find, Tool<Shop, 'find', { id: string }>>>()

const send = defineTool({
  name: 'send',
  description: 'Write to a customer.',
  input: z.object({ text: z.string() }),
  needsApproval: (_, { deps }: RunContext<Mail>) => deps.send.length > 0,
  run: ({ text }, { deps }) => {
    expectType<Equal<typeof deps, Mail>>()
    deps.send(text)
  },
})
expectType<Equal<typeof send, Tool<Mail, 'send', { text: string }>>>()

const plain = defineTool({ name: 'plain', description: 'Needs nothing.', input, run: (_, { deps }) => deps })
expectType<Equal<typeof plain, Tool<unknown, 'plain', { id: string }>>>()

// A tool that needs nothing goes where one with needs does, and not the other way round.
export const list: readonly Tool<Shop>[] = [find, plain]
// @ts-expect-error it needs a shop
export const without: readonly Tool[] = [find]

// An agent needs what its tools need, all of it.
const clerk = defineAgent({ name: 'clerk', model, tools: [find, send, plain] })
expectType<Equal<DepsOf<typeof clerk>, Shop & Mail>>()
expectType<Equal<OutputOf<typeof clerk>, undefined>>()
type CallsIn<D> = D extends AgentDefinition<unknown, never, infer Calls> ? Calls : never
expectType<
  Equal<
    CallsIn<typeof clerk>,
    {
      readonly find: CallTypes<{ id: string }, unknown>
      readonly send: CallTypes<{ text: string }, unknown>
      readonly plain: CallTypes<{ id: string }, unknown>
    }
  >
>()

// Its answers are typed by its schema.
const scorer = defineAgent({ name: 'scorer', model, output: z.object({ score: z.number().default(1) }) })
expectType<Equal<OutputOf<typeof scorer>, { score: number }>>()
expectType<Equal<DepsOf<typeof scorer>, unknown>>()
const both = defineAgent({ name: 'both', model, output: z.enum(['yes', 'no']), tools: [find] })
expectType<Equal<OutputOf<typeof both>, 'yes' | 'no'>>()
expectType<Equal<DepsOf<typeof both>, Shop>>()

// Tools made elsewhere.
const coder = defineAgent({ name: 'coder', model, tools: [...workspaceTools('.'), find] })
expectType<Equal<DepsOf<typeof coder>, Shop>>()
const tools: Tool[] = [plain]
const lister = defineAgent({ name: 'lister', model, tools })
expectType<Equal<DepsOf<typeof lister>, unknown>>()

// Any definition is one.
export const all: readonly AgentDefinition[] = [clerk, scorer, both, coder, lister]
export const shops: readonly AgentDefinition<unknown, Shop>[] = [scorer, both, coder]
// @ts-expect-error it needs more than a shop
export const wrong: AgentDefinition<unknown, Shop> = clerk

declare const host: Runtime

// Sub-agents need what their caller has, or what their entry is given.
const lead = defineAgent({ name: 'lead', model, agents: [clerk] })
expectType<Equal<DepsOf<typeof lead>, Shop & Mail>>()
const mapping = defineAgent({
  name: 'mapping',
  model,
  tools: [find],
  agents: [{ definition: clerk, deps: (mall: { readonly all: Shop & Mail }) => mall.all }],
})
expectType<Equal<DepsOf<typeof mapping>, Shop & { readonly all: Shop & Mail }>>()

// Groups are given what their agents need, and answer what those do.
export async function group(): Promise<void> {
  const { winner } = await parallel(host, [scorer, both], 'go', { deps: shop })
  const result = winner?.result
  if (result?.stopReason === 'stop') expectType<Equal<typeof result.output, { score: number } | 'yes' | 'no'>>()
  // @ts-expect-error it is no shop
  await parallel(host, [both], 'go', { deps: 7 })
  const line = await pipeline(host, [scorer, (text) => text.trim(), { definition: both }], 'go', { deps: shop })
  if (line.stopped === null) expectType<Equal<typeof line.output, 'yes' | 'no'>>()
  // @ts-expect-error it may have stopped early
  void line.output.length
}

class Database {
  #rows = 7
  get rows(): number {
    return this.#rows
  }
}

// A schema says what is needed too, and is held to what the tools need.
const keeper = defineAgent({ name: 'keeper', model, deps: z.instanceof(Database) })
expectType<Equal<DepsOf<typeof keeper>, Database>>()
// @ts-expect-error its tool needs a shop
defineAgent({ name: 'x', model, deps: z.instanceof(Database), tools: [find] })

declare const runtime: Runtime
declare const shop: Shop & Mail

export async function run(): Promise<void> {
  // Given once, prompts need give nothing, but may.
  const agent = await runtime.spawn(clerk, { deps: shop })
  expectType<Equal<typeof agent, AgentOf<typeof clerk>>>()
  agent.prompt('go')
  agent.prompt('go', { limits: { turns: 1 } })
  agent.prompt('go', { deps: shop })
  // @ts-expect-error it is no shop
  agent.prompt('go', { deps: { orders: 7 } })
  // @ts-expect-error half of what it needs
  await runtime.spawn(clerk, { deps: { send: () => {} } })

  // Not given, each prompt gives it.
  const bare = await runtime.spawn(clerk, { id: 'bare' })
  bare.prompt('go', { deps: shop, limits: { turns: 1 } })
  bare.interrupt('go', { deps: shop })
  // @ts-expect-error it needs a shop
  bare.prompt('go')
  // @ts-expect-error it needs a shop
  bare.interrupt('go', { limits: { turns: 1 } })
  // It goes on with what it had.
  bare.resume()

  // What needs nothing is given nothing.
  const plainAgent = await runtime.spawn(scorer)
  const scored: Run<{ score: number }> = plainAgent.prompt('go')
  void scored
  const result = await plainAgent.prompt('go').result
  if (result.stopReason === 'stop') expectType<Equal<typeof result.output, { score: number }>>()
  const resumed = await plainAgent.resume().result
  expectType<Equal<typeof resumed.output, { score: number } | undefined>>()

  // One that has what it needs is any agent; one that has not is none.
  const any: readonly Agent[] = [agent, plainAgent]
  // @ts-expect-error whoever takes it would prompt it without
  const one: Agent = bare
  void [any, one]

  // Of a definition that is not known, anything may be given.
  const wide: AgentDefinition = clerk
  const unknownAgent: Agent = await runtime.spawn(wide, { deps: 7 })
  const opened: Agent = await runtime.open('x', wide)
  await runtime.resume('x', clerk, { continue: false, deps: shop })

  // A child has what its parent has.
  const child = await unknownAgent.spawn({ definition: clerk, deps: (from: Shop) => ({ ...from, ...shop }) })
  child.prompt('go')
  await opened.spawn(keeper, { deps: new Database() })
  // @ts-expect-error no database
  await opened.spawn(keeper, { deps: shop })

  // Calls are told apart by name, unless those of sub-agents are heard too.
  agent.subscribe((event) => {
    if (event.type === 'tool.start' && event.name === 'find') expectType<Equal<typeof event.input, { id: string }>>()
    if (event.type === 'run.end') expectType<Equal<typeof event.turns, number>>()
  })
  agent.subscribe(
    (event) => {
      if (event.type === 'tool.start') expectType<Equal<typeof event.input, unknown>>()
    },
    { descendants: true },
  )
  for await (const event of agent.events()) {
    // @ts-expect-error no such tool
    if (event.type === 'tool.end' && event.name === 'other') break
  }
}

// Literals keep their types, and what may be missing counts as missing.
export async function literals(perhaps: { role: 'admin' | 'user' } | undefined): Promise<void> {
  const guard = defineAgent({ name: 'guard', model, deps: z.object({ role: z.enum(['admin', 'user']) }) })
  const admin = await runtime.spawn(guard, { deps: { role: 'admin' } })
  admin.prompt('x')
  const opened = await runtime.open('g', guard, { deps: { role: 'user' } })
  opened.prompt('x')
  const resumed = await runtime.resume('g', guard, { deps: { role: 'user' } })
  resumed.prompt('x')
  // @ts-expect-error there is no such role
  await runtime.spawn(guard, { deps: { role: 'guest' } })
  const unsure = await runtime.spawn(guard, { deps: perhaps })
  // @ts-expect-error it may have been given nothing
  unsure.prompt('x')
  unsure.prompt('x', { deps: { role: 'user' } })
}
