import { defineAgent } from '../../define/src/defineAgent.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import { tool } from '../../../test/support/agentHarness.ts'

/**
 * An agent that says what it was told last; told to "work" it calls a tool that waits for the gate, told to "wipe" one that needs
 * an approval, told to "fail" its model fails.
 */
export function helpfulAgent(name = 'helper') {
  const work = Promise.withResolvers<string>()
  const definition = defineAgent({
    name,
    model: policyModel(({ messages }) => {
      const last = messages.at(-1)
      const text = textOf(last?.content ?? [])
      if (last?.role === 'toolResult') return `The tool said: ${text}`
      if (text === 'work') return { toolCalls: [{ name: 'work', input: {} }] }
      if (text === 'wipe') return { toolCalls: [{ name: 'wipe', input: { disk: 'c' } }] }
      if (text === 'fail') throw new Error('no idea')
      return `You said: ${text}`
    }),
    tools: [
      tool('work', (_, { signal }) => Promise.race([work.promise, aborted(signal)]), { effects: 'none' }),
      tool('wipe', () => 'wiped', { needsApproval: true }),
    ],
    retry: { attempts: 1 },
  })
  return { definition, open: () => work.resolve('worked') }
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true }))
