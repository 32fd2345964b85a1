import { type Billed, type CacheMark, cacheMeter, idealCache } from '../../tools/bench/replay/measure/cacheMeter.ts'
import { marksFor } from '../../tools/bench/replay/measure/cacheMarks.ts'
import { namesIn, namesOf } from '../../tools/bench/replay/measure/names.ts'
import { costOf, prices } from '../../tools/bench/replay/measure/prices.ts'
import { NameTracker } from '../../tools/bench/replay/measure/references.ts'
import { BlockTable, type MeasuredBlock } from '../../tools/bench/replay/measure/requestBlocks.ts'
import { lostTexts } from '../../tools/bench/replay/measure/saidByUsers.ts'
import { tokensOf, tokensWritten } from '../../tools/bench/replay/measure/tokens.ts'
import type { ModelRequest } from '../../src/index.ts'
import { assert, describe } from '../support/suite.ts'

const mark = (end: number, ttl: CacheMark['ttl'] = '5m'): CacheMark[] => [{ end, ttl }]
const billed = (input: number, cached: number, written: number, writtenLong = 0): Billed => ({
  input,
  cached,
  written,
  writtenLong,
})
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
    const cache = idealCache()
    assert.equal(cache.bill([frame, a]), billed(110, 0, 110))
    assert.equal(cache.bill([frame, a, b]), billed(130, 110, 20))
    assert.equal(cache.bill([frame, c, b]), billed(150, 100, 50))
    // Not the last request but the one before began so.
    assert.equal(cache.bill([frame, a, b, d]), billed(170, 130, 40))
  })

  it('forget beginnings that are too long ago', () => {
    const [a, b, c] = [block(1), block(2), block(4)]
    const cache = idealCache(2)
    for (const request of [[a], [b], [c]]) cache.bill(request)
    assert.is(cache.bill([a]).cached, 0)
  })

  it('bill nothing as cached or written where there is no cache', () => {
    const cache = cacheMeter('none')
    for (let times = 0; times < 2; times += 1) assert.equal(cache.bill([block(5_000)], mark(1), 0), billed(5_000, 0, 0))
  })

  it('keep a beginning up to a mark for five minutes since it was last read, or for an hour', () => {
    const [frame, a, b] = [block(5_000), block(100), block(10)]
    const minute = 60_000
    const cache = cacheMeter('5m')
    assert.equal(cache.bill([frame, a], [...mark(1), ...mark(2)], 0), billed(5_100, 0, 5_100))
    // What stands behind the last mark is not written.
    assert.equal(cache.bill([frame, a, b], [...mark(1), ...mark(2)], 4 * minute), billed(5_110, 5_100, 0))
    assert.equal(cache.bill([frame, a, b], mark(3), 8 * minute), billed(5_110, 5_100, 10))
    assert.equal(cache.bill([frame, a, b], mark(3), 14 * minute), billed(5_110, 0, 5_110))
    const hour = cacheMeter('1h')
    assert.equal(hour.bill([frame, a], [...mark(1, '1h'), ...mark(2)], 0), billed(5_100, 0, 5_100, 5_000))
    assert.equal(hour.bill([frame, a], [...mark(1, '1h'), ...mark(2)], 59 * minute), billed(5_100, 5_000, 100))
    assert.is(hour.bill([frame, a], mark(1, '1h'), 120 * minute).cached, 0)
  })

  it('look for what is cached at a mark and twenty blocks before it, and cache nothing small', () => {
    const frame = block(5_000)
    const more = Array.from({ length: 25 }, () => block(1))
    const cache = cacheMeter('5m')
    cache.bill([frame], mark(1), 0)
    assert.is(cache.bill([frame, ...more.slice(0, 20)], mark(21), 0).cached, 5_000)
    const other = cacheMeter('5m')
    other.bill([frame], mark(1), 0)
    assert.is(other.bill([frame, ...more.slice(0, 21)], mark(22), 0).cached, 0)
    assert.is(other.bill([frame, ...more.slice(0, 21)], [...mark(1), ...mark(22)], 0).cached, 5_021)
    const small = cacheMeter('5m')
    assert.equal(small.bill([block(1_023)], mark(1), 0), billed(1_023, 0, 0))
  })

  it('know the marks that the product sets: frame, fold boundary, the request before, this one', () => {
    const text = (said: string) => ({ type: 'text', text: said }) as const
    const result = (callId: string, ...said: readonly string[]) =>
      ({ role: 'toolResult', callId, toolName: 'get', content: said.map(text), isError: false }) as const
    const call = (callId: string) => ({ type: 'toolCall', callId, name: 'get', input: {} }) as const
    const request: ModelRequest = {
      system: 'sys',
      tools: [],
      settings: { cache: { ttl: '1h' } },
      messages: [
        {
          role: 'user',
          content: [
            text('go'),
            text('<brake-note kind="memo">m</brake-note>'),
            text('<brake-note kind="index">n1 x</brake-note>'),
            text('on'),
          ],
        },
        { role: 'assistant', content: [{ type: 'thinking', text: 'hm' }, call('a'), call('b')] },
        result('a', 'one', 'two'),
        result('b', 'three'),
        { role: 'assistant', content: [call('c')] },
        result('c', 'four'),
      ],
    }
    // The blocks: frame, go, memo, index, on, hm, a, b, one, two, three, c, four.
    const ends = [1, 3, 11, 13]
    assert.equal(
      marksFor('1h', request),
      ends.map((end) => ({ end, ttl: '1h' })),
    )
    assert.equal(
      marksFor('5m', { ...request, settings: {} }),
      ends.map((end) => ({ end, ttl: '5m' })),
    )
    assert.equal(marksFor('5m', { ...request, settings: { cache: false } }), [])
    assert.equal(marksFor('ideal', request), [])
  })

  it('price cached, fresh and written tokens', () => {
    const all = { ...billed(150, 100, 50), output: 10 }
    assert.is(costOf(all, prices['anthropic']!), 10 + 62.5 + 50)
    assert.is(costOf(all, prices['openai']!), 10 + 50 + 80)
    // What is kept for an hour is dearer, and what is not written has the plain price.
    assert.is(costOf({ ...all, writtenLong: 20 }, prices['anthropic']!), 10 + 30 * 1.25 + 20 * 2 + 50)
    assert.is(costOf({ ...all, written: 10 }, prices['anthropic']!), 10 + 40 + 12.5 + 50)
    assert.is(costOf({ ...billed(150, 0, 0), output: 10 }, prices['anthropic']!), 150 + 50)
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
