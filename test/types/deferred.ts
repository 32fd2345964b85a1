import { z } from 'zod'
import {
  defineAgent,
  deferred,
  defineTool,
  policyModel,
  type ToolContext,
  type ToolEventOf,
  type ToolSource,
} from '../../src/index.ts'
import { type Equal, expectType } from './typeEquality.ts'

// Names, arguments and deps of deferred tools are known as those of any others.
const model = policyModel(() => 'ok')
const own = defineTool({ name: 'own', description: 'Own.', input: z.object({ n: z.number() }), run: () => 'ok' })
const found = defineTool({
  name: 'found',
  description: 'Found.',
  input: z.object({ city: z.string() }),
  run: (_, { deps }: ToolContext<{ shop: string }>) => deps.shop,
})
const weather = { inputSchema: z.object({ at: z.string() }), execute: ({ at }: { at: string }) => at }

const clerk = defineAgent({ name: 'clerk', model, tools: [own, deferred([found, { weather }])] })
type Started = Extract<ToolEventOf<typeof clerk>, { type: 'tool.start' }>
expectType<Equal<Extract<Started, { name: 'own' }>['input'], { n: number }>>()
expectType<Equal<Extract<Started, { name: 'found' }>['input'], { city: string }>>()
expectType<Equal<Extract<Started, { name: 'weather' }>['input'], { at: string }>>()
expectType<Equal<Extract<Started, { name: 'nothing' }>, never>>()

defineAgent({
  name: 'clerk',
  model,
  tools: [deferred([found])],
  instructions: ({ deps }) => deps.shop,
})
// @ts-expect-error a group cannot be in a group
deferred([deferred([own])])
// @ts-expect-error nothing else is a tool
deferred(['own'])

declare const source: ToolSource
defineAgent({ name: 'clerk', model, tools: [deferred([source], { about: 'orders' })] })

// So are sub-agents, whose deps the agent needs.
const helper = defineAgent({ name: 'helper', model, tools: [found] })
defineAgent({ name: 'lead', model, agents: deferred([helper]), instructions: ({ deps }) => deps.shop })
defineAgent({
  name: 'lead',
  model,
  agents: [helper, deferred([{ definition: clerk, detach: true }], { about: 'clerks' })],
})
// @ts-expect-error a group of agents is none of tools
defineAgent({ name: 'lead', model, tools: [deferred([helper])] })
// @ts-expect-error and the other way round
defineAgent({ name: 'lead', model, agents: deferred([own]) })
// @ts-expect-error nor both in one
deferred([own, helper])
