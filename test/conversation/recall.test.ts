import { recall, type Recalled, type RecallRequest } from '../../src/conversation/recall.ts'
import type { Conversation } from '../../src/conversation/conversation.ts'
import { BrakeLog } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'

function ask(conversation: Conversation, request: RecallRequest): Recalled {
  const search = recall(conversation, request)
  for (;;) {
    const next = search.next()
    if (next.done === true) return next.value
  }
}

const answered = (log: BrakeLog, request: RecallRequest): string => {
  const { text, isError } = ask(log.conversation, request)
  assert.is(isError, false, text)
  return text
}

const refused = (log: BrakeLog, request: RecallRequest): string => {
  const { text, isError } = ask(log.conversation, request)
  assert.is(isError, true, text)
  return text
}

/** A conversation whose steps with these outputs are hidden; they are n3, n5, … */
function hiding(...outputs: readonly string[]): BrakeLog {
  const log = new BrakeLog()
  log.user('go')
  const ids = outputs.map((output) => log.step([{ output }]))
  log.step([{ output: 'last' }])
  log.prune({ steps: ids.map((id) => `n${id}`) })
  return log
}

const numbered = (count: number, line: (n: number) => string = (n) => `line ${n}`): string =>
  Array.from({ length: count }, (_, n) => line(n + 1)).join('\n')

describe('recalling a step', (it) => {
  it('gives its words, and each call with its arguments and its result', () => {
    const log = new BrakeLog()
    log.user('go')
    log.step(
      [
        { name: 'edit', input: { path: 'a.ts', edits: [{ from: 'x\ny', to: '"z"' }], lines: [1, 2] }, output: 'done' },
        { name: 'look', input: 'not JSON', output: 'no such file', isError: true },
      ],
      { order: [1, 0], thinking: 'a thought' },
    )
    log.step([{}])
    log.revert('n1')
    assert.is(
      answered(log, { step: 'n2' }),
      [
        'n2 (reverted):',
        'calls edit',
        'path: a.ts',
        'edits.0.from: x\ny',
        'edits.0.to: "z"',
        'lines: 1, 2',
        'result of edit',
        'done',
        'calls look',
        'not JSON',
        'error of look',
        'no such file',
      ].join('\n'),
    )
  })

  it('takes the id of any of its nodes, with or without the n, and marks the answer with that of the step', () => {
    const log = hiding('seen')
    for (const step of ['n2', 'n3', '3', ' n3 ']) assert.match(answered(log, { step }), /^n2 \(hidden\):\n/)
  })

  it('tells images and what the provider did, and leaves out what was recalled before', () => {
    const log = new BrakeLog()
    log.user('go')
    log.step([
      { output: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] },
      { name: 'recall', input: { query: 'gone' }, output: 'n9 (hidden):\ngone' },
    ])
    log.step([{}])
    log.prune({ steps: ['n2'] })
    assert.is(
      answered(log, { step: 'n2' }),
      'n2 (hidden):\ncalls tool\nresult of tool\n(an image, image/png)\ncalls recall',
    )
  })

  it('says why the step is not shown', () => {
    const log = new BrakeLog()
    log.user('go')
    for (const output of ['one', 'two', 'three', 'x'.repeat(500), 'five']) log.step([{ output }])
    log.prune({ steps: ['n3'] })
    log.compact({ first: 2, recent: 2, maxChars: 150 })
    log.step([{ output: 'six' }])
    log.revert('n11')
    const reasons = [2, 4, 6, 8, 13].map((id) => /\((.*?)\)/.exec(answered(log, { step: `n${id}` }))?.[1])
    assert.equal(reasons, ['hidden', 'summarised', 'summarised', 'cut short', 'reverted'])
    assert.match(answered(log, { step: 'n8' }), /x{500}/)
    assert.is(refused(log, { step: 'n10' }), 'n10 is shown in full above.')
  })

  it('has every step of a compacted span, be the last a single reply', () => {
    const log = new BrakeLog()
    log.user('go')
    log.reply('first')
    log.user('more')
    log.reply('second')
    log.user('on')
    log.step([{}])
    log.compact({ first: 1, recent: 2 })
    assert.equal([log.conversation.overlay?.from, log.conversation.overlay?.to], [2, 4])
    for (const step of ['n2', 'n4']) assert.match(answered(log, { step }), /\(summarised\)/)
    assert.is(refused(log, { step: 'n3' }), 'n3 is shown in full above.')
  })

  it('leaves out arguments that are nested without end', () => {
    const log = new BrakeLog()
    log.user('go')
    const input = Array.from({ length: 200 }).reduce<object>((inner) => ({ in: inner }), { deep: 1 })
    log.step([{ input }])
    log.step([{}])
    log.revert('n1')
    assert.match(answered(log, { step: 'n2' }), /^in(\.in)+: \(nested too deeply\)$/m)
  })

  it('refuses what is shown, with the id under which it is', () => {
    const log = new BrakeLog({ policy: { onUserMessage: 'rebase' } })
    log.user('go')
    log.step([{}])
    log.user('and this')
    log.step([{}])
    log.revert('n1')
    log.step([{}])
    log.revert('n1')
    const copy = log.conversation.head
    assert.is(refused(log, { step: 'n1' }), 'n1 is shown in full above.')
    assert.is(refused(log, { step: `n${copy}` }), `n${copy} is shown in full above.`)
    // Repeated twice since.
    assert.is(refused(log, { step: 'n4' }), `n4 is shown in full above, as n${copy}.`)
    assert.is(refused(log, { step: 'n1', query: 'go' }), 'n1 is shown in full above.')
  })

  it('refuses a step that never was, and says which is the newest', () => {
    const log = hiding('seen')
    for (const step of ['n99', '0', 'x', 'n2–n3', '-1', 'n1.5', 'other/n3'])
      assert.is(
        refused(log, { step }),
        `There is no step ${JSON.stringify(step)}: the newest is n5. Give the id of one step, such as "n12", or a "query".`,
      )
  })

  it('refuses a summary, and says what it stands for', () => {
    const log = new BrakeLog()
    log.user('go')
    for (let n = 0; n < 4; n++) log.step([{}])
    const summary = log.compact({ first: 1, recent: 1 })
    assert.is(
      refused(log, { step: `n${summary}` }),
      `n${summary} is a summary, not a step: give the id of a step that it stands for, up to n7, or a "query".`,
    )
    assert.match(refused(log, { step: 'n99' }), /the newest is n9\./)
  })
})

describe('the size of what is recalled', (it) => {
  it('is 120 lines unless told otherwise, with a last line that says how to see the others', () => {
    const log = hiding(numbered(300))
    const text = answered(log, { step: 'n2' })
    assert.match(text, /^n2 \(hidden\), lines 1–120 of 302:\ncalls tool\nresult of tool\nline 1\n/)
    assert.match(text, /\nline 118\n\(182 lines not shown: give "from": 121, or a "query" to search n2\.\)$/)
    assert.match(answered(log, { step: 'n2', lines: 3 }), /lines 1–3 of 302:\n(.*\n){3}\(299 lines not shown/)
    assert.match(answered(log, { step: 'n2', lines: 1 }), /line 1 of 302:\ncalls tool\n\(301 lines not shown/)
  })

  it('lets every line be read by following the last line', () => {
    const log = hiding(numbered(1_000, (n) => `line ${n} ${'y'.repeat(n % 200)}`))
    const seen: string[] = []
    let from: number | undefined = 1
    while (from !== undefined) {
      const lines: string[] = answered(log, { step: 'n2', from, lines: 400 }).split('\n')
      const next: string | undefined = /"from": (\d+)/.exec(lines.at(-1)!)?.[1]
      seen.push(...lines.slice(1, lines.at(-1)!.startsWith('(') ? -1 : undefined))
      from = next === undefined ? undefined : Number(next)
      assert.ok(seen.length <= 1_002)
    }
    assert.is(
      seen.slice(2).join('\n'),
      numbered(1_000, (n) => `line ${n} ${'y'.repeat(n % 200)}`),
    )
    assert.match(
      answered(log, { step: 'n2', from: 1_002 }),
      /line 1002 of 1002:\n.*\n\(1001 lines not shown: give a smaller "from"/,
    )
    assert.is(refused(log, { step: 'n2', from: 1_003 }), 'n2 has 1002 lines: give a "from" up to that.')
  })

  it('is 12,000 characters of whole lines', () => {
    const log = hiding(numbered(100, (n) => `${n} ${'y'.repeat(300)}.`))
    const text = answered(log, { step: 'n2' })
    assert.ok(text.length > 11_500 && text.length < 12_300, `${text.length}`)
    for (const line of text.split('\n').slice(3, -1)) assert.match(line, /^\d+ y{300}\.$/)
  })

  it('cuts a long line around the hit, and a line of a step that fits not at all', () => {
    const line = `${'a '.repeat(250_000)}needleInHay${' b'.repeat(250_000)}`
    const log = hiding(line, `short\n${'c'.repeat(10_000)}`)
    const text = answered(log, { step: 'n2', query: 'needleInHay' })
    assert.match(text, /\[… \d+ characters …\] [a ]+needleInHay[ b]+ \[… \d+ characters …\]/)
    assert.ok(text.length < 12_300, `${text.length}`)
    assert.match(
      answered(log, { step: 'n2' }),
      /\n(a )+a? ?\[… \d+ characters …\]\n\(Long lines are cut: a "query" shows what stands around it\.\)$/,
    )
    assert.match(answered(log, { step: 'n4' }), /\nc{10000}$/)
    assert.match(answered(log, { query: 'needleInHay' }), /needleInHay/)
  })

  it('splits no character where it cuts a line', () => {
    const log = hiding(`${'😀'.repeat(20_000)}needleInHay${'😀'.repeat(20_000)}`, `x${'😀'.repeat(20_000)}needleInHay`)
    for (const step of ['n2', 'n4'])
      for (const query of [undefined, 'needleInHay']) assert.ok(answered(log, { step, query }).isWellFormed())
  })
})

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

  it('may be paused again and again in a long search, also within one step', () => {
    const pauses = (log: BrakeLog, request: RecallRequest): number => [...recall(log.conversation, request)].length
    const long = 'x'.repeat(999)
    assert.ok(pauses(hiding(...Array.from({ length: 20 }, () => long.repeat(100))), { query: 'y' }) >= 6)
    assert.ok(pauses(hiding(numbered(2_000, () => long)), { step: 'n2', query: 'y' }) >= 6)
    assert.is(pauses(hiding('short'), { query: 'y' }), 0)
  })
})
