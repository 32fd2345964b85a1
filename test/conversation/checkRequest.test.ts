import { checkRequest, type CheckContext } from '../../src/conversation/request/checkRequest.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import type { Block } from '../../src/protocol/messages.ts'
import type { ModelRequest, RequestMessage } from '../../src/protocol/ports/model.ts'
import { assert, describe } from '../support/suite.ts'
import { pngOf } from '../support/imageBytes.ts'
import { LogBuilder, text, toolCall } from './logBuilder.ts'

const user = (words: string): RequestMessage => ({ role: 'user', content: text(words) })
const assistant = (...content: readonly Block[]): RequestMessage => ({ role: 'assistant', content })
const result = (callId: string): RequestMessage => ({
  role: 'toolResult',
  callId,
  toolName: 'tool',
  content: text('ok'),
  isError: false,
})
const tools = [{ name: 'tool', description: 'Does it.', inputSchema: { type: 'object' } }]
const request = (...messages: readonly RequestMessage[]): ModelRequest => ({
  system: 'You test.',
  messages,
  tools,
  settings: {},
})

const signed: Extract<Block, { type: 'thinking' }> = { type: 'thinking', text: 'I think', signature: 'sealed' }

/** The trunk of one step whose thinking is signed, and a final answer whose thinking is signed too. */
function trunkOf() {
  const log = new LogBuilder()
  log.user('go')
  log.reply([signed, toolCall('a'), toolCall('b')])
  log.result('a')
  log.result('b')
  log.reply([{ ...signed, signature: 'other' }, ...text('done')])
  log.user('more')
  return rebuildConversation(log.records).path
}

const valid = request(
  user('go'),
  assistant(signed, toolCall('a'), toolCall('b')),
  result('a'),
  result('b'),
  assistant({ ...signed, signature: 'other' }, ...text('done')),
  user('more'),
)
const step = [assistant(signed, toolCall('a'), toolCall('b')), result('a'), result('b')] as const
const answer = assistant({ ...signed, signature: 'other' }, ...text('done'))

const breaches: readonly {
  readonly title: string
  readonly rule: number
  readonly request: ModelRequest
  readonly context?: CheckContext
}[] = [
  { rule: 1, title: 'there is no message', request: request() },
  { rule: 1, title: 'the first message is a reply', request: request(assistant(...text('hello')), user('go')) },
  {
    rule: 2,
    title: 'a call is never answered',
    request: request(user('go'), assistant(toolCall('a'), toolCall('b')), result('a')),
  },
  {
    rule: 2,
    title: 'a call is not answered before the next user message',
    request: request(user('go'), assistant(toolCall('a')), user('more')),
  },
  {
    rule: 2,
    title: 'a call is not answered before the next reply',
    request: request(user('go'), assistant(toolCall('a')), assistant(...text('x')), user('more')),
  },
  { rule: 3, title: 'a result has no call', request: request(user('go'), result('a')) },
  {
    rule: 3,
    title: 'a call is answered twice',
    request: request(user('go'), assistant(toolCall('a')), result('a'), result('a')),
  },
  {
    rule: 3,
    title: 'a result answers a call of an earlier step',
    request: request(
      user('go'),
      assistant(toolCall('a')),
      result('a'),
      assistant(toolCall('b')),
      result('b'),
      result('a'),
    ),
  },
  { rule: 4, title: 'the last message is a reply', request: request(user('go'), assistant(...text('done'))) },
  {
    rule: 5,
    title: 'two steps use one call id',
    request: request(user('go'), assistant(toolCall('a')), result('a'), assistant(toolCall('a')), result('a')),
  },
  {
    rule: 6,
    title: 'a message has no content',
    request: request(user('go'), { role: 'assistant', content: [] }, user('more')),
  },
  { rule: 6, title: 'a user text is blank', request: request(user(' \n')) },
  {
    rule: 6,
    title: 'a result is empty',
    request: request(user('go'), assistant(toolCall('a')), { ...result('a'), content: [] }),
  },
  {
    rule: 7,
    title: 'signed thinking was changed',
    request: request(
      user('go'),
      assistant({ ...signed, text: 'I thought' }, toolCall('a'), toolCall('b')),
      result('a'),
      result('b'),
      answer,
      user('more'),
    ),
  },
  {
    rule: 7,
    title: 'a signature was changed',
    request: request(
      user('go'),
      assistant({ ...signed, signature: 'forged' }, toolCall('a'), toolCall('b')),
      result('a'),
      result('b'),
      answer,
      user('more'),
    ),
  },
  {
    rule: 7,
    title: 'signed thinking was left out before its call',
    request: request(
      user('go'),
      assistant(toolCall('a'), toolCall('b')),
      result('a'),
      result('b'),
      answer,
      user('more'),
    ),
  },
  {
    rule: 7,
    title: 'signed thinking was moved behind a call',
    request: request(
      user('go'),
      assistant(toolCall('a'), signed, toolCall('b')),
      result('a'),
      result('b'),
      answer,
      user('more'),
    ),
  },
  {
    rule: 7,
    title: 'signed thinking of a reply without calls was changed',
    request: request(
      user('go'),
      ...step,
      assistant({ ...signed, signature: 'other', text: 'changed' }, ...text('done')),
      user('more'),
    ),
  },
  {
    rule: 8,
    title: 'the system prompt changed',
    request: { ...valid, system: 'You test well.' },
    context: { previous: valid },
  },
  {
    rule: 8,
    title: 'a tool changed',
    request: { ...valid, tools: [{ ...tools[0]!, description: 'Does it well.' }] },
    context: { previous: valid },
  },
  {
    rule: 8,
    title: 'a tool was added',
    request: { ...valid, tools: [...tools, { ...tools[0]!, name: 'more' }] },
    context: { previous: valid },
  },
  { rule: 9, title: 'two user messages are neighbours', request: request(user('go'), user('more')) },
  {
    rule: 10,
    title: 'a reply ends with thinking',
    request: request(user('go'), assistant(...text('a'), { type: 'thinking', text: 'I think' }), user('more')),
  },
  {
    rule: 11,
    title: 'an image is empty',
    request: request({ role: 'user', content: [{ type: 'image', data: '', mimeType: 'image/png' }] }),
  },
  {
    rule: 11,
    title: 'an image is of another type than it says',
    request: request({ role: 'user', content: [{ type: 'image', data: pngOf(), mimeType: 'image/jpeg' }] }),
  },
  {
    rule: 12,
    title: 'a call of the provider has no result',
    request: request(
      user('go'),
      assistant(...text('a'), {
        type: 'provider',
        provider: 'anthropic',
        kind: 'call',
        name: 'web_search',
        data: { toolCallId: 's1' },
      }),
      user('more'),
    ),
  },
  {
    rule: 13,
    title: 'an id is longer than 64 characters',
    request: request(user('go'), assistant(toolCall('a'.repeat(65))), result('a'.repeat(65))),
  },
]

describe('the check of a request', (it) => {
  it('finds nothing wrong with a valid one', () => {
    assert.equal(checkRequest(valid), [])
    assert.equal(checkRequest(valid, { previous: request(user('go')), trunk: trunkOf() }), [])
    assert.equal(
      checkRequest(request(user('go'), assistant(toolCall('a'), toolCall('b')), result('b'), result('a'))),
      [],
    )
  })

  it('compares tools by what they say, not by where they are kept', () => {
    assert.equal(checkRequest({ ...valid, tools: structuredClone(tools) }, { previous: valid }), [])
  })

  for (const { rule, title, request: broken, context } of breaches) {
    it(`reports rule ${rule}, and that alone, when ${title}`, () => {
      const trunk = rule === 7 ? { trunk: trunkOf() } : {}
      const found = checkRequest(broken, { ...trunk, ...context })
      assert.equal([...new Set(found.map((violation) => violation.rule))], [rule])
      assert.ok(found[0]!.message.length > 10)
    })
  }

  it('reports a call id used twice in one reply', () => {
    const found = checkRequest(request(user('go'), assistant(toolCall('a'), toolCall('a')), result('a')))
    assert.ok(found.some(({ rule }) => rule === 5))
  })

  it('reports everything that is wrong', () => {
    const found = checkRequest(request(assistant(toolCall('a')), result('b'), assistant(...text(''))))
    assert.equal(new Set(found.map(({ rule }) => rule)), new Set([1, 2, 3, 4, 6]))
  })

  it('covers all rules here', () => {
    assert.equal([...new Set(breaches.map(({ rule }) => rule))], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13])
  })
})
