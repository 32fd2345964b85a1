import { recallMisses } from '../../tools/bench/replay/policies/recallMisses.ts'
import { readText } from '../../tools/bench/replay/readers/readSession.ts'
import type { Agent, ModelRequest } from '../../src/index.ts'
import { assert, describe } from '../support/suite.ts'

const nobody = undefined as unknown as Agent
const tool = (name: string) => ({ name, description: name, inputSchema: { type: 'object' } })
const request = (text: string, ...tools: readonly string[]): ModelRequest => ({
  system: '',
  settings: {},
  tools: tools.map(tool),
  messages: [{ role: 'user', content: [{ type: 'text', text }] }],
})
const session = () =>
  readText(
    JSON.stringify([
      { role: 'user', content: 'see file_one and file_two' },
      { role: 'assistant', content: 'I read file_one, file_two and file_never_met' },
    ]),
    'chat.json',
  )

describe('a model that recalls what it misses', (it) => {
  it('asks for met names that the request does not show, once a turn', async () => {
    const { beforeReply } = recallMisses(await session())
    const asked = beforeReply!(1, request('only file_one', 'recall'), nobody)
    assert.equal(asked, [{ type: 'toolCall', callId: '', name: 'recall', input: { query: 'file_two', lines: 12 } }])
    assert.is(beforeReply!(1, request('only file_one', 'recall'), nobody), undefined)
  })

  it('asks for names that stand only in the index', async () => {
    const { beforeReply } = recallMisses(await session())
    const indexed = request('', 'recall')
    const content = ['file_one', '<brake-note kind="index">\nn2 file_two\n</brake-note>'].map(
      (text) => ({ type: 'text', text }) as const,
    )
    const asked = beforeReply!(1, { ...indexed, messages: [{ role: 'user', content }] }, nobody)
    assert.equal(asked, [
      { type: 'toolCall', callId: '', name: 'recall', input: { step: 'n2', query: 'file_two', lines: 12 } },
    ])
  })

  it('asks for nothing that is shown, nor without the tool', async () => {
    const all = recallMisses(await session())
    assert.is(all.beforeReply!(1, request('file_one file_two', 'recall'), nobody), undefined)
    const none = recallMisses(await session())
    assert.is(none.beforeReply!(1, request('file_one', 'read'), nobody), undefined)
  })
})
