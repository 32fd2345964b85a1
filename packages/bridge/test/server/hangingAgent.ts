import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { gate, tool } from '../../../../test/support/agentHarness.ts'

/** An agent that hangs in its call, the first time; then it is done. `isIn` resolves once it hangs. */
export function hanging() {
  const isIn = gate()
  let starts = 0
  const hang = tool('hang', (_, { signal }) => {
    starts += 1
    if (starts > 1) return 'done'
    isIn.resolve()
    return new Promise<string>((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('no'))))
  })
  const model = policyModel(({ messages }) =>
    messages.at(-1)?.role === 'user' ? { toolCalls: [{ name: 'hang', input: {} }] } : 'all done',
  )
  return { definition: defineAgent({ name: 'hanging', tools: [hang], model }), isIn, starts: () => starts }
}
