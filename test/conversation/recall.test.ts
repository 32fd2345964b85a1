import { BrakeLog } from '../support/brakeLog.ts'
import { answered, hiding, numbered, refused } from '../support/recalled.ts'
import { assert, describe } from '../support/suite.ts'

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

  it('keeps blank lines, also at the beginning and the end', () => {
    const log = new BrakeLog()
    log.user('go')
    log.reply('\n\na timeout\n')
    log.user('on')
    log.step([{}])
    log.prune({ steps: ['n2'] })
    assert.is(answered(log, { step: 'n2', query: 'timeout' }), 'n2 (hidden):\n\n\na timeout\n')
    assert.is(answered(log, { step: 'n2' }), 'n2 (hidden):\n\n\na timeout\n')
    assert.match(answered(log, { step: 'n2', from: 3, lines: 1 }), /^n2 \(hidden\), line 3 of 4:\na timeout\n\(3 lines/)
    assert.match(answered(log, { step: 'n2', from: 4 }), /^n2 \(hidden\), line 4 of 4:\n\n\(3 lines/)
  })

  it('splits no character where it cuts a line', () => {
    const log = hiding(`${'😀'.repeat(20_000)}needleInHay${'😀'.repeat(20_000)}`, `x${'😀'.repeat(20_000)}needleInHay`)
    for (const step of ['n2', 'n4'])
      for (const query of [undefined, 'needleInHay']) assert.ok(answered(log, { step, query }).isWellFormed())
  })
})
