import { toPrompt } from '../../src/adapters/toPrompt.ts'
import { toNextSignature } from '../../src/adapters/providerData.ts'
import type { ModelRequest } from '../../../../src/protocol/ports/model.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

describe('the prompt of a request', (it) => {
  it('has what the provider said of a call with its result as well, and with no other', () => {
    const data = { openai: { itemId: 'fc_1', caller: { type: 'program', callerId: 'call_p' } } }
    const call = (callId: string) => ({ type: 'toolCall', callId, name: 'look', input: {} }) as const
    const result = (callId: string) =>
      ({
        role: 'toolResult',
        callId,
        toolName: 'look',
        content: [{ type: 'text', text: 'seen' }],
        isError: false,
      }) as const
    const request: Pick<ModelRequest, 'system' | 'messages'> = {
      system: '',
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'go' }] },
        {
          role: 'assistant',
          content: [{ type: 'thinking', text: '', signature: toNextSignature(data)! }, call('a'), call('b')],
        },
        result('a'),
        result('b'),
      ],
    }
    const prompt = toPrompt(request as ModelRequest, { provider: 'openai', cache: false, toolImages: 'result' })
    const parts = prompt.flatMap((message) =>
      message.role === 'tool' ? message.content.map(({ providerOptions }) => providerOptions) : [],
    )
    assert.equal(parts, [data, undefined])
  })
})
