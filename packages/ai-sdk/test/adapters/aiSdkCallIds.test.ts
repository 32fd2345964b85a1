import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { aiSdkModel } from '../../../../src/aiSdk.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { ask, replyOf } from '../../../../test/support/wireServer/useWire.ts'

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 3, text: 3, reasoning: 0 },
}
const finish = { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage } as const

/** A language model of version v4 written by hand: no real provider package repeats ids on demand. */
const says = (...parts: readonly LanguageModelV4StreamPart[]) =>
  aiSdkModel({
    specificationVersion: 'v4',
    provider: 'hand.made',
    modelId: 'm1',
    doStream: async () => ({ stream: ReadableStream.from(parts) }),
  })

describe('the ids of calls of an AI SDK model', (it) => {
  it('are not relied on: every call is kept, and one that was never completed is dropped', async ({ signal }) => {
    const start = (id: string) => ({ type: 'tool-input-start', id, toolName: 'add' }) as const
    const call = (id: string, a: number) =>
      ({ type: 'tool-call', toolCallId: id, toolName: 'add', input: JSON.stringify({ a }) }) as const
    for (const parts of [
      [call('x', 1), call('x', 2)],
      [call('', 1), call('', 2)],
      [start('x'), start('x'), call('x', 1), call('x', 2)],
      [start('x'), call('x', 1), start('x'), call('x', 2)],
      [start('x'), call('x', 1), call('x', 2), start('y')],
    ]) {
      const { content } = await replyOf(says(...parts, finish), ask('hi'), signal)
      assert.equal(
        content.map((block) => block.type === 'toolCall' && block.input),
        [{ a: 1 }, { a: 2 }],
      )
    }
  })
})
