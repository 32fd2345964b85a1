import { z } from 'zod'
import {
  type AgentEvent,
  type AgentOf,
  defineAgent,
  defineTool,
  type DepsOf,
  policyModel,
  type ToolContext,
  type ToolEventOf,
  type ToolSource,
} from '../../src/index.ts'
import { type Equal, expectType } from './typeEquality.ts'

const model = policyModel(() => 'ok')
const own = defineTool({ name: 'own', description: 'Own.', input: z.object({ n: z.number() }), run: () => 'ok' })
const paid = defineTool({
  name: 'paid',
  description: 'Paid.',
  input: z.object({}),
  run: (_, { deps }: ToolContext<{ readonly account: string }>) => deps.account,
})
declare const source: ToolSource

// Beside a source the arguments of an agent's own tools are known, and what they need.
const mixed = defineAgent({ name: 'a', model, tools: [own, source, paid] })
type Started = Extract<ToolEventOf<typeof mixed>, { type: 'tool.start' }>
expectType<Equal<Extract<Started, { name: 'own' }>['input'], { n: number }>>()
expectType<Equal<DepsOf<typeof mixed>, { readonly account: string }>>()

// There may be calls of any name, so listeners hear any event.
declare const agent: AgentOf<typeof mixed>
agent.subscribe((event) => expectType<Equal<typeof event, AgentEvent>>())

// Without one they hear of none but its own.
declare const closed: AgentOf<ReturnType<typeof closedDefinition>>
const closedDefinition = () => defineAgent({ name: 'b', model, tools: [own] })
closed.subscribe((event) => expectType<Equal<typeof event, AgentEvent> extends true ? false : true>())

// @ts-expect-error neither a tool nor a source
defineAgent({ name: 'c', model, tools: [{ source: 'srv' }] })
