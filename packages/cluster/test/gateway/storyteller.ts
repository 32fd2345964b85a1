import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { noUsage } from '../../../../src/protocol/messages.ts'
import type { Model } from '../../../../src/protocol/ports/model.ts'

const words = ['once ', 'upon ', 'a ', 'time']

/** Tells a story, and where it hangs, half of it. */
export function storyteller({ hangs }: { readonly hangs: boolean }): AgentDefinition {
  const model: Model = {
    id: 'storyteller',
    async *stream(_request, { signal }) {
      for (const [index, text] of words.entries()) {
        if (hangs && index === 2) await new Promise((resolve) => signal.addEventListener('abort', resolve))
        yield { type: 'text.delta', text }
      }
      const content = [{ type: 'text' as const, text: words.join('') }]
      yield { type: 'done', reply: { content, stopReason: 'stop', usage: noUsage } }
    },
  }
  return defineAgent({ name: 'storyteller', model })
}
