import { defineAgent, type Guard, type HookedCall, policyModel, type RunResult } from '../../src/index.ts'
import { type Equal, expectType } from './typeEquality.ts'

interface Shop {
  readonly mayRefund: (user: string) => boolean
}

const model = policyModel(() => 'ok')

// What a hook or guard needs of the application, the definition needs.
const desk = defineAgent({
  name: 'desk',
  model,
  beforeTool: (call: HookedCall<Shop>) => (call.deps.mayRefund('ann') ? undefined : { deny: 'not allowed' }),
})
expectType<Equal<Parameters<NonNullable<NonNullable<typeof desk.hooks>['beforeTool']>>[0]['deps'], Shop>>()

// One that needs nothing fits anywhere.
const polite: Guard = ({ text }) => (text.includes('!') ? { refuse: 'no shouting' } : { ok: true })
defineAgent({ name: 'a', model, guards: { input: [polite], output: [polite] } })

// @ts-expect-error a denial has a reason
defineAgent({ name: 'a', model, beforeTool: () => ({ deny: true }) })
// @ts-expect-error a guard says so when it lets something pass
defineAgent({ name: 'a', model, guards: { input: [() => undefined] } })

declare const result: RunResult
if (result.stopReason === 'refusal') {
  expectType<Equal<typeof result.refusal, { at: 'input' | 'output'; guard: string; reason: string } | undefined>>()
}
