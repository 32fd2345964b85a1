import { defineAgent, type AgentDefinition, type RunContext, type TurnContext } from '../../src/index.ts'
import { policyModel } from '../../src/index.ts'
import { type Equal, expectType } from './typeEquality.ts'

interface Shop {
  readonly name: string
}
interface Clock {
  readonly now: () => number
}

const model = policyModel(() => 'hello')
type DepsIn<D> = D extends AgentDefinition<infer _, infer Deps> ? Deps : never

// A definition needs what its functions say they need.
const greeter = defineAgent({
  name: 'greeter',
  model,
  instructions: ({ deps }: RunContext<Shop>) => `At ${deps.name}.`,
})
expectType<Equal<DepsIn<typeof greeter>, Shop>>()

const timed = defineAgent({
  name: 'timed',
  model,
  beforeTurn: ({ deps, turn }: TurnContext<Clock>) => (turn > 1 && deps.now() > 5 ? { tools: [] } : undefined),
})
expectType<Equal<DepsIn<typeof timed>, Clock>>()

const plain = defineAgent({
  name: 'plain',
  model,
  instructions: async ({ deps }) => {
    expectType<Equal<typeof deps, unknown>>()
    return ''
  },
  beforeTurn: async ({ turn }) => (turn === 1 ? { toolChoice: 'required' } : { settings: { temperature: 0 } }),
})
expectType<Equal<DepsIn<typeof plain>, unknown>>()

export const wrong = () => [
  // @ts-expect-error a choice that there is not
  defineAgent({ name: 'x', model, settings: { toolChoice: 'maybe' } }),
  // @ts-expect-error instructions are text
  defineAgent({ name: 'x', model, instructions: () => 7 }),
  // @ts-expect-error an option that there is not
  defineAgent({ name: 'x', model, beforeTurn: () => ({ tool: 'x' }) }),
]
