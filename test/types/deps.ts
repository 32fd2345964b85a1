import { z } from 'zod'
import {
  type AgentDefinition,
  defineAgent,
  defineTool,
  policyModel,
  type RunContext,
  type Tool,
  type ToolContext,
  workspaceTools,
} from '../../src/index.ts'
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
type DepsIn<D> = D extends AgentDefinition<infer _, infer Deps> ? Deps : never
type OutputIn<D> = D extends AgentDefinition<infer Output> ? Output : never
expectType<Equal<DepsIn<typeof clerk>, Shop & Mail>>()
expectType<Equal<OutputIn<typeof clerk>, undefined>>()
type CallsIn<D> = D extends AgentDefinition<unknown, never, infer Calls> ? Calls : never
expectType<
  Equal<
    CallsIn<typeof clerk>,
    { readonly find: { id: string }; readonly send: { text: string }; readonly plain: { id: string } }
  >
>()

// Its answers are typed by its schema.
const scorer = defineAgent({ name: 'scorer', model, output: z.object({ score: z.number().default(1) }) })
expectType<Equal<OutputIn<typeof scorer>, { score: number }>>()
expectType<Equal<DepsIn<typeof scorer>, unknown>>()
const both = defineAgent({ name: 'both', model, output: z.enum(['yes', 'no']), tools: [find] })
expectType<Equal<OutputIn<typeof both>, 'yes' | 'no'>>()
expectType<Equal<DepsIn<typeof both>, Shop>>()

// Tools made elsewhere.
const coder = defineAgent({ name: 'coder', model, tools: [...workspaceTools('.'), find] })
expectType<Equal<DepsIn<typeof coder>, Shop>>()
const tools: Tool[] = [plain]
const lister = defineAgent({ name: 'lister', model, tools })
expectType<Equal<DepsIn<typeof lister>, unknown>>()

// Any definition is one.
export const all: readonly AgentDefinition[] = [clerk, scorer, both, coder, lister]
export const shops: readonly AgentDefinition<unknown, Shop>[] = [scorer, both, coder]
// @ts-expect-error it needs more than a shop
export const wrong: AgentDefinition<unknown, Shop> = clerk
