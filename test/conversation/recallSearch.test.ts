import { recall, type RecallRequest } from '../../src/conversation/brakes/recall/recall.ts'
import { BrakeLog } from '../support/brakeLog.ts'
import { answered, hiding, numbered, refused } from '../support/recalled.ts'
import { assert, describe } from '../support/suite.ts'

describe('searching what is hidden', (it) => {
  it('finds the steps that hold the words, with what stands around them', () => {
    const log = hiding('nothing', `${numbered(50)}\nthe Timeout fired\n${numbered(50)}`, 'other')
    const text = answered(log, { query: 'timeout', lines: 4 })
    assert.is(
      text,
      'n4 (hidden), lines 52–55 of 103:\nline 50\nthe Timeout fired\nline 1\nline 2\n\n(for more of a step give its id as "step".)',
    )
  })

  it('finds names in words, arguments and results', () => {
    const log = new BrakeLog()
    log.user('go')
    log.reply('I saw wordsName1')
    log.user('on')
    log.step([{ input: { edits: [{ path: 'src/argName2.ts' }] }, output: 'ok' }])
    log.step([{ output: 'found resultName3()' }])
    log.step([{}])
    log.revert('n1', 'all', 'failure')
    log.prune({ steps: ['n2', 'n4', 'n6'] })
    for (const [query, step] of [
      ['wordsName1', 'n2'],
      ['src/argName2.ts', 'n4'],
      ['argName2.ts', 'n4'],
      ['resultName3', 'n6'],
    ] as const)
      assert.match(answered(log, { query }), new RegExp(`^${step} \\(hidden\\)`))
  })

  it('puts exact names first, then steps with more and rarer words, then the newest', () => {
    const order = (query: string, ...outputs: readonly string[]): string[] =>
      [...answered(hiding(...outputs), { query }).matchAll(/^n(\d+) \(/gm)].map(
        ([, id]) => outputs[Number(id) / 2 - 1]!,
      )
    assert.equal(order('parseUser fails quickly', 'fails quickly, parseUserName', 'parseUser', 'it fails quickly'), [
      'parseUser',
      'fails quickly, parseUserName',
      'it fails quickly',
    ])
    assert.equal(order('the zebra of', 'a zebra', 'the x of', 'the y of', 'the z of'), [
      'a zebra',
      'the z of',
      'the y of',
    ])
    assert.equal(order('PARSEUSER', 'parseUser', 'x'), ['parseUser'])
    assert.equal(order('the zebra', 'the x', 'the y', 'a zebra'), ['a zebra', 'the y', 'the x'])
    assert.equal(order('same', 'same 1', 'same 2', 'same 3'), ['same 3', 'same 2', 'same 1'])
    assert.equal(order('4711', 'no 147115', 'no 4711', 'no'), ['no 4711', 'no 147115'])
    assert.equal(order('src/a.ts', 'src/a.tsx', 'lib/src/a.ts:5', 'src.a.ts'), ['lib/src/a.ts:5', 'src/a.tsx'])
  })

  it('shows three at most, and names the others', () => {
    const log = hiding(...Array.from({ length: 16 }, (_, n) => `same ${n}`))
    const text = answered(log, { query: 'same' })
    assert.equal(
      [...text.matchAll(/^(n\d+) \(/gm)].map(([, id]) => id),
      ['n32', 'n30', 'n28'],
    )
    assert.match(text, /\n\n\(also found in n26, n24, n22, n20, n18, n16, n14, n12, n10, n8 and 3 more\.\)$/)
    assert.equal([...answered(log, { query: 'same', lines: 2 }).matchAll(/^(n\d+) \(/gm)].length, 2)
  })

  it('divides lines and characters among the steps, and gives on what one leaves', () => {
    const long = `same\n${numbered(300, (n) => `${n} ${'z'.repeat(90)}`)}`
    const log = hiding(long, long, 'same')
    const lines = answered(log, { query: 'same' }).split('\n')
    assert.equal(
      lines.filter((line) => /^n\d+ \(/.test(line)),
      ['n6 (hidden):', 'n4 (hidden), lines 1–58 of 303:', 'n2 (hidden), lines 1–59 of 303:'],
    )
    const chars = answered(log, { query: 'same', lines: 400 })
    assert.ok(chars.length > 11_000 && chars.length < 12_400, `${chars.length}`)
  })

  it('never finds what was recalled, nor what recall was asked', () => {
    const log = new BrakeLog()
    log.user('go')
    log.step([{ output: 'the name rareName77' }])
    log.step([{ name: 'recall', input: { query: 'rareName77' }, output: 'n2 (hidden):\nthe name rareName77' }])
    log.step([{}])
    log.prune({ steps: ['n2', 'n4'] })
    const text = answered(log, { query: 'rareName77' })
    assert.is(text, 'n2 (hidden):\ncalls tool\nresult of tool\nthe name rareName77')
  })

  it('never finds what is shown, what people said, or thoughts', () => {
    const log = new BrakeLog({ policy: { onUserMessage: 'rebase' } })
    log.user('askedName1')
    log.step([{ output: 'gone' }], { thinking: 'thoughtName1' })
    log.user('askedName2')
    log.revert('n1')
    log.step([{ output: 'shownName1' }])
    for (const query of ['askedName1', 'askedName2', 'thoughtName1', 'shownName1'])
      assert.is(answered(log, { query }), `No hidden step holds anything of "${query}".`)
  })

  it('says so when nothing is hidden, and when nothing is found', () => {
    const log = new BrakeLog()
    log.user('go')
    log.step([{}])
    assert.is(refused(log, { query: 'tool' }), 'Nothing is hidden: every step is shown in full above.')
    assert.is(
      answered(hiding('seen'), { query: 'missing "word' }),
      'No hidden step holds anything of "missing \\"word".',
    )
  })

  it('refuses a query without words', () => {
    const log = hiding('seen')
    for (const query of ['', ' ', '?!', '…—()', '🚀'])
      for (const step of [undefined, 'n2'])
        assert.is(refused(log, { query, step }), `${JSON.stringify(query)} holds no word and no name to look for.`)
  })

  it('reads words in any script', () => {
    const log = hiding('ключ найден', 'die Größe stimmt', '数据库连接失败了', 'हिन्दी पाठ')
    for (const [query, step] of [
      ['НАЙДЕН', 'n2'],
      ['größe', 'n4'],
      ['连接失败', 'n6'],
      ['हिन्दी', 'n8'],
    ] as const)
      assert.match(answered(log, { query }), new RegExp(`^${step} `))
  })

  it('within a step, shows the line that holds most, from a line on if told', () => {
    const log = hiding(
      numbered(500, (n) => (n % 100 === 0 ? `timeout ${n}` : n === 250 ? 'timeout of retryName2' : `l${n}`)),
    )
    assert.match(
      answered(log, { step: 'n2', query: 'timeout retryName2', lines: 3 }),
      /lines 251–253 of 502:\nl249\ntimeout of/,
    )
    assert.match(
      answered(log, { step: 'n2', query: 'timeout', lines: 1 }),
      /\ntimeout 100\n\(501 lines not shown: give "from": 103,/,
    )
    assert.match(
      answered(log, { step: 'n2', query: 'timeout', lines: 1, from: 103 }),
      /line 202 of 502:\ntimeout 200\n/,
    )
    assert.is(
      refused(log, { step: 'n2', query: 'absent' }),
      'n2 holds nothing of "absent"; without a "query" its text is shown.',
    )
    assert.match(refused(log, { step: 'n2', query: 'timeout', from: 503 }), /has 502 lines/)
    assert.match(refused(log, { step: 'n2', query: 'retryName2', from: 400 }), /^n2 from line 400 on holds nothing/)
  })

  it('finds the best line of a long text, be it far behind the first', () => {
    const log = hiding(`timeout\n${numbered(30_000)}\ntimeout of retryName2\n${numbered(30_000)}`)
    const text = answered(log, { step: 'n2', query: 'timeout retryName2', lines: 1 })
    assert.match(text, /^n2 \(hidden\), line 30004 of 60004:\ntimeout of retryName2\n/)
    assert.match(
      answered(log, { query: 'timeout retryName2', lines: 1 }),
      /line 30004 of 60004:\ntimeout of retryName2/,
    )
  })

  it('may be paused again and again in a long search, also within one step', () => {
    const pauses = (log: BrakeLog, request: RecallRequest): number => [...recall(log.conversation, request)].length
    const long = 'x'.repeat(999)
    assert.ok(pauses(hiding(...Array.from({ length: 20 }, () => long.repeat(100))), { query: 'y' }) >= 6)
    assert.ok(pauses(hiding(numbered(2_000, () => long)), { step: 'n2', query: 'y' }) >= 14)
    assert.ok(pauses(hiding(numbered(2_000, () => long)), { step: 'n2', from: 1_900 }) >= 12)
    assert.is(pauses(hiding('short'), { query: 'y' }), 0)
  })
})
