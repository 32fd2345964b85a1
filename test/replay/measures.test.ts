import { CacheMeter } from '../../tools/bench/replay/measure/cacheMeter.ts'
import { namesIn, namesOf } from '../../tools/bench/replay/measure/names.ts'
import { costOf, prices } from '../../tools/bench/replay/measure/prices.ts'
import { NameTracker } from '../../tools/bench/replay/measure/references.ts'
import { BlockTable, type MeasuredBlock } from '../../tools/bench/replay/measure/requestBlocks.ts'
import { lostTexts } from '../../tools/bench/replay/measure/saidByUsers.ts'
import { tokensOf, tokensWritten } from '../../tools/bench/replay/measure/tokens.ts'
import type { ModelRequest } from '../../src/index.ts'
import { assert, describe } from '../support/suite.ts'

const block = (tokens: number, words = '', more: Partial<MeasuredBlock> = {}): MeasuredBlock => ({
  tokens,
  words,
  role: 'user',
  isIndex: false,
  ...more,
})

describe('measures of a replay', (it) => {
  it('count a quarter of the characters, and four for each block', () => {
    assert.is(tokensOf({ type: 'text', text: '123456789' }), 3 + 4)
    assert.is(
      tokensOf({ type: 'toolCall', callId: 'a', name: 'get', input: { k: 1 } }),
      Math.ceil('get{"k":1}'.length / 4) + 4,
    )
    assert.is(tokensOf({ type: 'image', data: 'AAAA', mimeType: 'image/png' }), 1_604)
    assert.is(
      tokensWritten([
        { type: 'text', text: '12345' },
        { type: 'text', text: '678' },
      ]),
      2,
    )
  })

  it('take for names what does not look like prose', () => {
    const text =
      'the quickest renderMessage in src/conversation/tree/node.ts. and snake_case, version10, lower.dotted. short.a'
    assert.equal(namesIn(text), [
      'renderMessage',
      'src/conversation/tree/node.ts',
      'snake_case',
      'version10',
      'lower.dotted',
    ])
    // Line ends within arguments are no letters.
    const input = { command: 'cd a\nrenderMessage\trun_tests' }
    assert.equal(namesOf([{ type: 'toolCall', callId: 'a', name: 'run_command', input }]), [
      'run_command',
      'renderMessage',
      'run_tests',
    ])
  })

  it('bill what one of the last requests began with as cached', () => {
    const [frame, a, b, c, d] = [100, 10, 20, 30, 40].map((tokens) => block(tokens)) as [
      MeasuredBlock,
      MeasuredBlock,
      MeasuredBlock,
      MeasuredBlock,
      MeasuredBlock,
    ]
    const cache = new CacheMeter()
    assert.equal(cache.bill([frame, a]), { input: 110, cached: 0, rewritten: null })
    assert.equal(cache.bill([frame, a, b]), { input: 130, cached: 110, rewritten: null })
    assert.equal(cache.bill([frame, c, b]), { input: 150, cached: 100, rewritten: 50 })
    // Not the last request but the one before began so.
    assert.equal(cache.bill([frame, a, b, d]), { input: 170, cached: 130, rewritten: 70 })
  })

  it('forget beginnings that are too long ago', () => {
    const [a, b, c] = [block(1), block(2), block(4)]
    const cache = new CacheMeter(2)
    for (const request of [[a], [b], [c]]) cache.bill(request)
    assert.is(cache.bill([a]).cached, 0)
  })

  it('price cached, fresh and written tokens', () => {
    assert.is(costOf({ input: 150, cached: 100, output: 10 }, prices['anthropic']!), 10 + 62.5 + 50)
    assert.is(costOf({ input: 150, cached: 100, output: 10 }, prices['openai']!), 10 + 50 + 80)
  })

  it('tell names that the request does not show from those only in its index', () => {
    const names = new NameTracker()
    names.meet(['file_one', 'file_two', 'file_three', 'file_four'])
    const [one, two, index] = [
      block(1, 'see file_one'),
      block(1, 'see file_two'),
      block(1, 'n3 file_two file_three', { isIndex: true }),
    ]
    const written = ['file_one', 'file_two', 'file_three', 'file_four', 'file_never_met']
    assert.equal(names.refer([one, two, index], written), {
      met: 4,
      indexOnly: ['file_three'],
      dangling: ['file_four'],
    })
    // The next request shows one block less.
    assert.equal(names.refer([one, index], written), {
      met: 4,
      indexOnly: ['file_two', 'file_three'],
      dangling: ['file_four'],
    })
    assert.equal(names.refer([one, two], written), { met: 4, indexOnly: [], dangling: ['file_three', 'file_four'] })
  })

  it('know a name as shown while any block of the request shows it', () => {
    const names = new NameTracker()
    names.meet(['file_one'])
    const [a, b] = [block(1, 'file_one'), block(1, 'again file_one')]
    names.show([a, b])
    assert.is(names.refer([a], ['file_one']).dangling.length, 0)
    assert.is(names.refer([b], ['file_one']).dangling.length, 0)
    assert.is(names.refer([], ['file_one']).dangling.length, 1)
  })

  it('keep one block for the same bytes, by role, with the index apart', () => {
    const table = new BlockTable()
    const request = (...texts: readonly string[]): ModelRequest => ({
      system: 'sys',
      tools: [],
      settings: {},
      messages: [{ role: 'user', content: texts.map((text) => ({ type: 'text', text })) }],
    })
    const [frame, a, index] = table.blocksOf(request('a', '<brake-note kind="index">\nn1 x\n</brake-note>'))
    const again = table.blocksOf(request('a', 'b'))
    assert.ok(again[0] === frame && again[1] === a)
    assert.equal([a!.isIndex, index!.isIndex], [false, true])
    assert.equal([frame!.role, frame!.tokens], ['frame', 1])
    const asReply = table.blocksOf({
      ...request(),
      messages: [{ role: 'assistant', content: [{ type: 'text', text: 'a' }] }],
    })
    assert.not.ok(asReply[1] === a)
  })

  it('count what people said and a request does not show, in order', () => {
    const said = ['one', 'use [n1] here', 'three'].map((text) => ({ type: 'text', text }) as const)
    const shown = (...words: readonly string[]): MeasuredBlock[] => words.map((text) => block(1, text))
    assert.is(lostTexts(said, shown('one\n[n1]', 'use (n1) here\n[n2]', 'three')), 0)
    assert.is(lostTexts(said, shown('one', 'three')), 1)
    assert.is(lostTexts(said, shown('three', 'use [n1] here', 'one')), 2)
    assert.is(lostTexts(said, [block(1, 'one', { role: 'toolResult' })]), 3)
  })
})
