import { anthropic } from '@ai-sdk/anthropic'
import { dynamicTool, jsonSchema, tool } from 'ai'
import { z } from 'zod'
import { aiSdkTools } from '../../src/aiSdk.ts'
import { defineAgent, defineTool, policyModel, type ToolEventOf } from '../../src/index.ts'
import { type Equal, expectType } from './typeEquality.ts'

// Names and arguments of tools of the AI SDK are known in events, alone, in lists and with options.
const model = policyModel(() => 'ok')
const weather = tool({ inputSchema: z.object({ city: z.string() }), execute: ({ city }) => city })
const free = dynamicTool({ inputSchema: jsonSchema({ type: 'object' }), execute: async () => 1 })
const search = anthropic.tools.webSearch_20250305({})
const own = defineTool({ name: 'own', description: 'Own.', input: z.object({ n: z.number() }), run: () => 'ok' })

type Started<D extends Parameters<typeof namesOf>[0]> = Extract<ToolEventOf<D>, { type: 'tool.start' }>
declare function namesOf(definition: ReturnType<typeof defineAgent>): void

const alone = defineAgent({ name: 'a', model, tools: { weather, free, search } })
type Alone = Started<typeof alone>
expectType<Equal<Alone['name'], 'weather' | 'free'>>()
expectType<Equal<Extract<Alone, { name: 'weather' }>['input'], { city: string }>>()
expectType<Equal<Extract<Alone, { name: 'search' }>, never>>()

const mixed = defineAgent({
  name: 'b',
  model,
  tools: [own, { weather }, ...aiSdkTools({ free }, { effects: { free: 'none' } })],
})
type Mixed = Started<typeof mixed>
expectType<Equal<Extract<Mixed, { name: 'weather' }>['input'], { city: string }>>()
expectType<Equal<Extract<Mixed, { name: 'own' }>['input'], { n: number }>>()
expectType<Equal<Extract<Mixed, { name: 'free' }>['input'], unknown>>()
expectType<Equal<Extract<Mixed, { name: 'nothing' }>, never>>()

// @ts-expect-error effects name tools of the set
aiSdkTools({ weather }, { effects: { wether: 'none' } })
// @ts-expect-error no tool of the AI SDK can be undone
aiSdkTools({ weather }, { effects: { weather: 'reversible' } })

// Arguments are typed by any schema that says what it takes.
defineTool({
  name: 'checked',
  description: 'Checked.',
  input: {
    jsonSchema: { type: 'object' },
    validate: (value: unknown) => ({ success: true as const, value: value as { at: Date } }),
  },
  run: ({ at }) => at.toISOString(),
})
defineTool({
  name: 'unchecked',
  description: 'Unchecked.',
  input: { jsonSchema: { type: 'object' } },
  // @ts-expect-error nothing is known of the argument
  run: ({ at }) => at.toISOString(),
})
