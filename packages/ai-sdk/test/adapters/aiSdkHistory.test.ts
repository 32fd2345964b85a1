import type { ModelMessage } from '@ai-sdk/provider-utils'
import { historyOf } from '../../../../src/aiSdk.ts'
import { createRuntime, defineAgent } from '../../../../src/index.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const pixel = new Uint8Array([1, 2, 3])

const messages: ModelMessage[] = [
  { role: 'system', content: 'You help.' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'What is on it?' },
      { type: 'file', data: { type: 'data', data: pixel }, mediaType: 'image/png' },
      { type: 'file', data: 'data:image/gif;base64,AQID', mediaType: 'image/gif' },
      { type: 'image', image: new URL('https://example.com/a.png') },
    ],
  },
  {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Let me see.' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'look', input: { at: 1 } },
      { type: 'tool-call', toolCallId: 'c2', toolName: 'look', input: { at: 2 } },
    ],
  },
  {
    role: 'tool',
    content: [
      { type: 'tool-result', toolCallId: 'c1', toolName: 'look', output: { type: 'json', value: { seen: true } } },
      { type: 'tool-result', toolCallId: 'c2', toolName: 'look', output: { type: 'error-text', value: 'dark' } },
    ],
  },
  { role: 'assistant', content: 'A clock.' },
  { role: 'assistant', content: [{ type: 'text', text: 'And a key.' }] },
]

describe('a history of the AI SDK', (it) => {
  it('is one that an agent can begin with', async ({ cleanup }) => {
    const history = historyOf(messages)
    assert.equal(history, [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is on it?' },
          { type: 'image', data: 'AQID', mimeType: 'image/png' },
          { type: 'image', data: 'data:image/gif;base64,AQID', mimeType: 'image/gif' },
          { type: 'image', url: 'https://example.com/a.png' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me see.' },
          { type: 'toolCall', callId: 'c1', name: 'look', input: { at: 1 } },
          { type: 'toolCall', callId: 'c2', name: 'look', input: { at: 2 } },
        ],
      },
      { role: 'toolResult', callId: 'c1', toolName: 'look', content: '{"seen":true}' },
      { role: 'toolResult', callId: 'c2', toolName: 'look', isError: true, content: 'dark' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'A clock.' },
          { type: 'text', text: 'And a key.' },
        ],
      },
    ])
    const model = scriptedModel(['Yes.'])
    const runtime = await createRuntime()
    cleanup(() => runtime.close())
    const agent = await runtime.spawn(defineAgent({ name: 'seer', model, checkRequests: true }), { history })
    assert.is((await agent.prompt('Really?').result).text, 'Yes.')
    assert.is(model.requests[0]!.messages.length, 6)
  })

  it('leaves out what a provider did on its own, and replies that say nothing', () => {
    assert.equal(
      historyOf([
        { role: 'user', content: 'Search.' },
        {
          role: 'assistant',
          content: [
            { type: 'tool-call', toolCallId: 's1', toolName: 'web_search', input: {}, providerExecuted: true },
            { type: 'tool-result', toolCallId: 's1', toolName: 'web_search', output: { type: 'text', value: 'found' } },
          ],
        },
        { role: 'assistant', content: '' },
        { role: 'assistant', content: 'Found.' },
      ] satisfies ModelMessage[]),
      [
        { role: 'user', content: [{ type: 'text', text: 'Search.' }] },
        { role: 'assistant', content: [{ type: 'text', text: 'Found.' }] },
      ],
    )
  })

  it('takes files as data, and refuses those by address, naming the message', () => {
    const file = { type: 'file', data: 'AQID', mediaType: 'application/pdf', filename: 'a.pdf' } as const
    const kept = { type: 'file', data: 'AQID', mimeType: 'application/pdf', name: 'a.pdf' }
    const bytes = { ...file, data: new Uint8Array([1, 2, 3]) }
    assert.equal(historyOf([{ role: 'user', content: [file, bytes] }] satisfies ModelMessage[]), [
      { role: 'user', content: [kept, kept] },
    ])
    const there = { ...file, data: new URL('https://example.com/a.pdf') }
    assert.throws(
      () =>
        historyOf([
          { role: 'user', content: 'Hello' },
          { role: 'user', content: [there] },
        ] satisfies ModelMessage[]),
      withCode('INVALID_OPTION', 'message 1', 'application/pdf'),
    )
  })
})
