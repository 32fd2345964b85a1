import * as fc from 'fast-check'
import { describeIssues } from '../../src/protocol/errors.ts'
import { agentCommands } from '../../src/protocol/bridge/commands.ts'
import { contentSchema } from '../../src/protocol/content.ts'
import { maxContentChars } from '../../src/protocol/text/saidContent.ts'
import { agentIdSchema, formatNodeId, isAgentId, nodeIdSchema, parseNodeId } from '../../src/protocol/ids.ts'
import {
  addUsage,
  blockSchema,
  messageSchema,
  noUsage,
  textOf,
  toolCallsOf,
  totalTokens,
  usageSchema,
} from '../../src/protocol/messages.ts'
import { assert, describe } from '../support/suite.ts'

const accepts = (schema: { safeParse(value: unknown): { success: boolean } }, value: unknown) =>
  schema.safeParse(value).success
const text = (words: string) => ({ type: 'text', text: words }) as const
const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' } as const

describe('content', (it) => {
  it('may be a string, which becomes a text block', () => {
    assert.equal(contentSchema().parse('hi'), [text('hi')])
  })

  it('may be blocks of text and images, and loses those that are empty', () => {
    assert.equal(contentSchema().parse([text(''), text('hi'), image]), [text('hi'), image])
    assert.equal(contentSchema().parse([image]), [image])
  })

  it('keeps the blanks of what is not blank', () => {
    assert.equal(contentSchema().parse('  hi\n'), [text('  hi\n')])
  })

  it('splits a data URL, whose own type counts', () => {
    const given = { type: 'image', data: 'data:image/PNG;charset=utf-8;base64,AAAA', mimeType: 'image/jpeg' }
    assert.equal(contentSchema().parse([given]), [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }])
    assert.throws(() => contentSchema().parse([{ ...given, data: 'data:image/png;base64,' }]), /it is empty/)
  })

  for (const [what, content, said] of [
    ['nothing', undefined, /it is missing: give a text, or a list of \{ type: "text", text \}/],
    ['an object', { text: 'x' }, /it is of type object: give a text/],
    ['a list in a list', [[]], /block 0: its type is undefined: give a text/],
    ['a part of another kind', [text('x'), { type: 'image_url' }], /block 1: its type is "image_url": give a text/],
    ['a text without text', [{ type: 'text', content: 'x' }], /block 0: its text is missing/],
    ['an image without a type', [{ type: 'image', data: 'AAAA' }], /block 0: its mimeType is missing: give one like/],
    ['a buffer', [{ ...image, data: new ArrayBuffer(2) }], /block 0: its data is an ArrayBuffer: give new Uint8Array/],
    ['an address', [{ ...image, data: 'https://a.example/b.png' }], /its data is an address, "https:.*give it as url/],
    ['a data URL without base64', [{ ...image, data: 'data:image/svg+xml,<svg>' }], /its data is an address/],
    [
      'an image without data',
      [{ type: 'image', mimeType: 'image/png' }],
      /its data is missing: give base64 or bytes, or a url/,
    ],
  ] as const) {
    it(`says of ${what} what it is and what is wanted`, () => {
      assert.match(describeIssues(contentSchema().safeParse(content).error!), said)
    })
  }

  for (const [title, value] of [
    ['an empty string', ''],
    ['blanks', ' \n\t'],
    ['no blocks', []],
    ['blank blocks', [text(' '), text('')]],
    ['an image without data', [{ ...image, data: '' }]],
    ['a number', 5],
    ['null', null],
    ['a thinking block', [{ type: 'thinking', text: 'hm' }]],
    ['a tool call', [{ type: 'toolCall', callId: 'a', name: 'b', input: {} }]],
    ['an unknown block', [{ type: 'video', data: 'x' }]],
    ['a block without its text', [{ type: 'text' }]],
  ] as const) {
    it(`is refused when it is ${title}`, () => assert.not.ok(accepts(contentSchema(), value)))
  }

  it('is measured over all blocks, and refused when it is too large', () => {
    const half = 'x'.repeat(maxContentChars / 2)
    assert.ok(accepts(contentSchema(), [text(half), { ...image, data: half }]))
    assert.not.ok(accepts(contentSchema(), [text(half), { ...image, data: half }, text('x')]))
    assert.match(contentSchema().safeParse(`${half}${half}x`).error?.message ?? '', /larger than 33554432/)
  })
})

describe('ids', (it) => {
  it('of agents are file names that need no care', () => {
    for (const id of ['a', '0', 'coder-1', 'A.b_c-9', 'x'.repeat(128)]) {
      assert.ok(accepts(agentIdSchema(), id), id)
      assert.ok(isAgentId(id), id)
    }
    for (const id of [
      '',
      '.',
      '..',
      '-a',
      '_a',
      '.hidden',
      'a/b',
      'a\\b',
      'a b',
      'a\n',
      'ä',
      'a:b',
      'x'.repeat(129),
      5,
      null,
    ]) {
      assert.not.ok(accepts(agentIdSchema(), id), String(id))
      assert.not.ok(isAgentId(id), String(id))
    }
  })

  it('of nodes are positive integers', () => {
    assert.ok(accepts(nodeIdSchema(), 1))
    for (const id of [0, -1, 1.5, NaN, Infinity, '1', null, 2 ** 53])
      assert.not.ok(accepts(nodeIdSchema(), id), String(id))
  })

  it('of nodes are read as they are written, with or without the n', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 999_999_999_999_999 }), (id) => {
        assert.is(parseNodeId(formatNodeId(id)), id)
        assert.is(parseNodeId(` ${id} `), id)
      }),
      { seed: 1 },
    )
  })

  it('of nodes that are none are undefined', () => {
    for (const words of [
      '',
      'n',
      'n0',
      '0',
      'n-1',
      '-1',
      'n1.5',
      '1e3',
      'nn1',
      'n 1',
      'N1',
      'n01',
      '[n1]',
      'n1n2',
      '0x1',
      '９',
      '9'.repeat(16),
    ]) {
      assert.is(parseNodeId(words), undefined, words)
    }
  })
})

describe('messages', (it) => {
  it('know four blocks and no others', () => {
    const blocks = [
      text('a'),
      image,
      { type: 'thinking', text: 'hm', signature: 's' },
      { type: 'toolCall', callId: 'a', name: 'b', input: null },
    ]
    for (const block of blocks) assert.equal(blockSchema().parse(block), block)
    for (const block of [
      {},
      { type: 'audio' },
      { type: 'text', text: 1 },
      { type: 'thinking', text: 'x', signature: undefined },
    ]) {
      assert.not.ok(accepts(blockSchema(), block), JSON.stringify(block))
    }
  })

  it('from people and tools hold no calls', () => {
    const call = { type: 'toolCall', callId: 'a', name: 'b', input: {} }
    assert.not.ok(accepts(messageSchema(), { role: 'user', content: [call], source: 'prompt' }))
    assert.not.ok(
      accepts(messageSchema(), { role: 'toolResult', callId: 'a', toolName: 'b', content: [call], isError: false }),
    )
    assert.not.ok(accepts(messageSchema(), { role: 'system', content: [] }))
  })

  it('give their text and their calls in order', () => {
    const content = [
      text('a'),
      { type: 'toolCall', callId: '1', name: 'x', input: {} },
      text('b'),
      { type: 'toolCall', callId: '2', name: 'x', input: {} },
    ] as const
    assert.is(textOf(content), 'ab')
    assert.equal(
      toolCallsOf(content).map(({ callId }) => callId),
      ['1', '2'],
    )
  })

  it('add usage up; reasoning appears when either has it', () => {
    const a = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 }
    assert.equal(addUsage(a, a), { input: 2, output: 4, cacheRead: 6, cacheWrite: 8 })
    assert.equal(addUsage(a, { ...noUsage, reasoning: 5 }), { ...a, reasoning: 5 })
    assert.is(totalTokens({ ...a, reasoning: 100 }), 10)
    assert.not.ok(accepts(usageSchema(), { ...a, input: NaN }))
    assert.not.ok(accepts(usageSchema(), { input: 1 }))
  })
})

describe('commands', (it) => {
  const agentId = 'a'
  it('of every kind are accepted, their content as blocks', () => {
    for (const type of ['agent.prompt', 'agent.interrupt', 'agent.steer', 'agent.followUp'] as const) {
      const command = agentCommands.schema().parse({ type, agentId, content: 'hi' })
      assert.ok('content' in command)
      assert.equal(command.content, [text('hi')])
    }
    for (const command of [
      { type: 'agent.abort', agentId },
      { type: 'agent.stop', agentId },
      { type: 'agent.resume', agentId },
      { type: 'agent.resume', agentId, limits: { turns: 5 } },
      { type: 'agent.decide', agentId, callId: 'c', decision: 'approve' },
      { type: 'agent.decide', agentId, callId: 'c', decision: 'deny', reason: 'no' },
    ]) {
      assert.equal(agentCommands.schema().parse(command), command)
    }
  })

  it('that could reach the machine by another name are refused', () => {
    for (const type of [
      'xstate.done.actor.reply',
      'xstate.stop',
      'xstate.error.actor.reply',
      'store.failed',
      'reply.started',
      'prompt',
      'stop',
      '',
      '__proto__',
    ]) {
      assert.not.ok(
        accepts(agentCommands.schema(), { type, agentId, content: 'x', callId: 'c', decision: 'approve' }),
        type,
      )
    }
    for (const command of [{}, null, [], 'agent.stop', { type: 'agent.stop' }])
      assert.not.ok(accepts(agentCommands.schema(), command))
  })

  it('with a part too many, or a wrong one, are refused', () => {
    for (const command of [
      { type: 'agent.abort', agentId, first: true },
      { type: 'agent.prompt', agentId, content: 'x', id: 'mine' },
      { type: 'agent.prompt', agentId, content: 'x', limits: { turns: 0 } },
      { type: 'agent.prompt', agentId, content: '' },
      { type: 'agent.prompt', agentId: '../x', content: 'x' },
      { type: 'agent.decide', agentId, callId: 'c', decision: 'maybe' },
      { type: 'agent.decide', agentId, decision: 'approve' },
    ]) {
      assert.not.ok(accepts(agentCommands.schema(), command), JSON.stringify(command))
    }
  })
})
