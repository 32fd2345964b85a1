import type { ConversationNode } from '../../src/conversation/tree/node.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { stallOf, type StallSubject } from '../../src/conversation/brakes/stall/stall.ts'
import { TextHash } from '../../src/protocol/text/textHash.ts'
import type { StallRule } from '../../src/protocol/braking.ts'
import { BrakeLog, type WantedCall } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'

/** A log with these steps after a message; a list is one step of several calls. */
function logOf(...steps: readonly (WantedCall | readonly WantedCall[])[]): BrakeLog {
  const log = new BrakeLog()
  log.user('the task')
  add(log, ...steps)
  return log
}

function add(log: BrakeLog, ...steps: readonly (WantedCall | readonly WantedCall[])[]): void {
  for (const step of steps) log.step(Array.isArray(step) ? step : [step as WantedCall])
}

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))
const ruleOf = (log: BrakeLog, ...rules: StallRule[]): StallRule | undefined =>
  stallOf(log.conversation, rules.length === 0 ? undefined : rules)?.rule

const look: WantedCall = { name: 'look', input: { at: 1 }, output: 'nothing here' }
const other = (at: number): WantedCall => ({ name: 'other', input: { at }, output: `thing ${at}` })
const failing = (output: string, more: WantedCall = {}): WantedCall => ({ name: 'run', output, isError: true, ...more })

describe('a stall by repeating', (it) => {
  it('is the same call with the same result three times, and not twice', () => {
    assert.is(ruleOf(logOf(look, look)), undefined)
    const { conversation } = logOf(look, look, look)
    assert.equal(stallOf(conversation), {
      rule: 'repeat',
      first: 2,
      target: 1,
      steps: [2, 4, 6],
      evidence: 'the same call with the same result 3 times: look at=1',
    })
  })

  it('needs them among the last twelve, with whatever read in between', () => {
    const between = (count: number) => logOf(look, look, ...times(count, other), look)
    assert.is(ruleOf(between(9)), 'repeat')
    assert.is(ruleOf(between(10)), undefined)
  })

  it('says where it began: the step before the first of the three', () => {
    const stall = stallOf(logOf(other(1), other(2), look, other(3), look, look).conversation)!
    assert.equal([stall.first, stall.target, stall.steps], [6, 5, [6, 10, 12]])
  })

  it('began with the first of all that are equal, up to a change', () => {
    const { first, steps, evidence } = stallOf(logOf(other(1), look, look, look, look).conversation)!
    assert.equal([first, steps], [4, [4, 6, 8, 10]])
    assert.ok(evidence.startsWith('the same call with the same result 4 times:'))
    const changed = logOf(look, { ...other(1), changed: ['a.ts'] }, look, look, look)
    assert.equal(stallOf(changed.conversation)!.steps, [6, 8, 10])
  })

  it('is over as soon as something else is done', () => {
    assert.is(ruleOf(logOf(look, look, look, other(1))), undefined)
  })

  for (const [title, change, isBroken] of [
    ['a change of a file', { changed: ['a.ts'] }, true],
    ['an effect that cannot be undone', { isIrreversible: true }, true],
    ['a poll, as what it waits for may come', { polls: true }, true],
    ['a change that failed', { changed: ['a.ts'], isError: true }, false],
    ['reading', {}, false],
  ] as const) {
    it(`${isBroken ? 'ends at' : 'goes on over'} ${title}`, () => {
      const log = logOf(look, look, { ...other(1), ...change }, look)
      assert.is(ruleOf(log), isBroken ? undefined : 'repeat')
    })
  }

  it('knows a call by its arguments in any order, and another by any of them', () => {
    const open = (input: unknown): WantedCall => ({ ...look, input })
    const one = open({ path: 'a', range: { from: 1, to: 2 } })
    const same = open({ range: { to: 2, from: 1 }, path: 'a' })
    assert.is(ruleOf(logOf(one, same, one)), 'repeat')
    for (const input of [{ path: 'a', range: { from: 1, to: 3 } }, { path: 'a' }, 'a', ['a'], null])
      assert.is(ruleOf(logOf(one, one, open(input))), undefined)
  })

  it('knows a result by its text and images, but not by how long it took and what time it was', () => {
    const took = (time: string): WantedCall => ({ ...look, output: `2 failed (${time})` })
    assert.is(ruleOf(logOf(took('1.25 s'), took('980ms'), took('1 min'))), 'repeat')
    assert.is(ruleOf(logOf(took('1 s'), took('1 s'), { ...look, output: '3 failed (1 s)' })), undefined)
    for (const at of ['12:33:0', '2026-03-01T10:00:0', '9:07:41.12', '2026-03-01 10:00:00+02:0'])
      assert.is(ruleOf(logOf(took(`${at}1`), took(`${at}2`), took(`${at}3`))), 'repeat', at)
    for (const different of ['2026-03-0', 'page 1:0', '1:2:'])
      assert.is(
        ruleOf(logOf(took(`${different}1`), took(`${different}2`), took(`${different}3`))),
        undefined,
        different,
      )
    assert.is(ruleOf(logOf(took('1 s'), took('1 s'), { ...took('1 s'), isError: true })), undefined)
    const image = (data: string): WantedCall => ({ ...look, output: [{ type: 'image', data, mimeType: 'image/png' }] })
    assert.is(ruleOf(logOf(image('AA=='), image('AA=='), image('AA=='))), 'repeat')
    assert.is(ruleOf(logOf(image('AA=='), image('AA=='), image('AB=='))), undefined)
  })

  it('compares all calls of a step', () => {
    assert.is(ruleOf(logOf([look, other(1)], [look, other(1)], [look, other(1)])), 'repeat')
    assert.is(ruleOf(logOf([look, other(1)], [look, other(1)], [look, other(2)])), undefined)
  })
})

describe('a stall by going round', (it) => {
  for (const period of [2, 3, 4]) {
    it(`is ${period} steps with the same results, twice`, () => {
      const round = times(period, other)
      const stall = stallOf(logOf(look, ...round, ...round).conversation, ['cycle'])!
      assert.equal([stall.first, stall.target, stall.steps.length], [4, 3, 2 * period])
      assert.ok(stall.evidence.startsWith(`the same ${period} steps with the same results 2 times: other at=0, then`))
      assert.is(ruleOf(logOf(...round, ...round.slice(0, -1), look)), undefined)
      const last = { ...other(period - 1), output: 'something else' }
      assert.is(ruleOf(logOf(...round, ...round.slice(0, -1), last)), undefined)
    })
  }

  it('began where the first round did, whatever part of a round came last', () => {
    const { first, steps, evidence } = stallOf(logOf(look, ...[1, 2, 1, 2, 1].map(other)).conversation, ['cycle'])!
    assert.equal([first, steps.length], [4, 5])
    assert.is(evidence, 'the same 2 steps with the same results 2 times: other at=2, then other at=1')
  })

  it('is not five steps, twice', () => {
    assert.is(ruleOf(logOf(...times(5, other), ...times(5, other))), undefined)
  })

  it('goes on over changes, one step longer: the same change with the same result changed nothing', () => {
    const edit = { ...other(1), changed: ['a.ts'] }
    assert.is(ruleOf(logOf(edit, look, edit, look)), undefined)
    assert.is(ruleOf(logOf(edit, look, edit, look, edit)), 'cycle')
  })
})

describe('a stall by failing', (it) => {
  it('is the same error three times in six, whatever was called', () => {
    const at = (path: string, line: number) => failing(`see below\n${path}:${line} TypeError: 0x${line}f is not ok\n`)
    const log = logOf(at('src/a.ts', 1), other(1), at('src/a.ts', 20), other(2), at('src/a.ts', 333))
    const stall = stallOf(log.conversation)!
    assert.equal([stall.rule, stall.first, stall.steps], ['sameError', 2, [2, 6, 10]])
    assert.is(stall.evidence, 'the same error 3 times, the last: run → error: src/a.ts:333 TypeError: 0x333f is not ok')
    assert.is(
      ruleOf(logOf(...[0, 1, 2].flatMap((input) => [other(input), other(input + 3), failing('no A', { input })]))),
      undefined,
    )
  })

  it('is not three errors that differ, and none that came before', () => {
    assert.is(ruleOf(logOf(failing('no A'), failing('no B', { input: 1 }), failing('no A', { input: 2 }))), undefined)
    assert.is(ruleOf(logOf(...times(3, (input) => failing('no A', { input })), other(1))), undefined)
    assert.is(ruleOf(logOf(...times(3, (at) => failing('no A', { name: `run${at}` })))), undefined)
  })

  it('is another where it names another file, but for a temporary one', () => {
    const missing = (path: string) => failing(`no such file: '${path}'`, { input: { path } })
    assert.is(ruleOf(logOf(missing('/app/jest.config.js'), missing('/app/.eslintrc'), missing('/app/a.ts'))), undefined)
    for (const made of ['/tmp/run-xq/out', '/var/folders/zz/T/xk', 'C:\\Temp\\qw'])
      assert.is(ruleOf(logOf(...['a', 'b', 'c'].map((name) => missing(made + name)))), 'sameError')
  })

  it('is none after a change, or after waiting, even if it says the same', () => {
    const test = failing('not ok - adds\n1 failed')
    for (const between of [
      { name: 'edit', output: 'done', changed: ['a.ts'] },
      { name: 'edit', output: 'done', isIrreversible: true },
      { name: 'edit', output: 'done', isReversible: true },
      { name: 'wait_for_build', output: 'ok', polls: true },
      { name: 'run', input: { command: 'sleep 5' }, output: '' },
      { name: 'scroll', output: 'more' },
    ] satisfies WantedCall[]) {
      const rounds = times(5, (input) => [test, { ...between, input: between.input ?? { input } }]).flat()
      assert.is(ruleOf(logOf(...rounds)), undefined, between.name)
      assert.is(ruleOf(logOf(...rounds, test, test)), undefined)
      assert.is(ruleOf(logOf(...rounds, test, test, test), 'sameError'), 'sameError', 'three since')
    }
    const missed = { name: 'edit', changed: ['a.ts'], isError: true, output: 'the text is not there' }
    for (const harmless of [missed, other(1)])
      assert.is(ruleOf(logOf(test, harmless, test, harmless, test), 'sameError'), 'sameError')
  })

  it('is none where the same call has gone well since', () => {
    const fetched = { name: 'run', output: 'all rows' }
    const no = failing('no route')
    assert.is(ruleOf(logOf(no, no, fetched, no)), undefined)
    assert.is(ruleOf(logOf(no, no, { ...fetched, input: 'other' }, no), 'sameError'), 'sameError')
    assert.is(ruleOf(logOf(look, look, { ...look, output: 'something' }, look)), undefined, 'nor a repeat')
  })

  it('takes the last line that tells what went wrong', () => {
    const noisy = (at: number) => failing(`Error: no module\nat line ${'abc'.repeat(at)}`, { input: at })
    assert.is(ruleOf(logOf(...times(3, noisy))), 'sameError')
  })

  it('takes no denial for another', () => {
    const denied = (reason: string, input: number): WantedCall => ({ name: 'pay', denied: reason, input })
    assert.is(ruleOf(logOf(denied('no', 1), denied('no', 2), denied('no', 3))), 'sameError')
    assert.is(ruleOf(logOf(denied('no', 1), denied('not now', 2), denied('no', 3))), undefined)
  })
})

describe('rules by name', (it) => {
  it('ask only those named, in their order', () => {
    const log = logOf(...times(4, () => failing('no A')))
    assert.equal(
      (['repeat', 'sameError', 'repeat4', 'errors', 'cycle', 'nothingNew'] as const).filter((rule) =>
        ruleOf(log, rule),
      ),
      ['repeat', 'sameError', 'repeat4', 'errors', 'cycle'],
    )
    assert.is(ruleOf(log, 'errors', 'repeat'), 'errors')
    assert.is(stallOf(log.conversation, []), undefined)
  })

  it('repeat4: four in a row', () => {
    assert.is(ruleOf(logOf(look, look, look), 'repeat4'), undefined)
    assert.is(ruleOf(logOf(look, look, look, look), 'repeat4'), 'repeat4')
    assert.is(ruleOf(logOf(look, look, other(1), look, look), 'repeat4'), undefined)
  })

  it('errors: three of four, the last among them', () => {
    const no = (at: number) => failing(`no ${'abcd'[at]}`, { input: at })
    assert.is(ruleOf(logOf(no(0), other(1), no(1), no(2)), 'errors'), 'errors')
    assert.is(ruleOf(logOf(no(0), no(1), no(2), other(1)), 'errors'), undefined)
    assert.is(ruleOf(logOf(no(0), other(1), other(2), no(2)), 'errors'), undefined)
    assert.is(ruleOf(logOf(no(0), no(1), { ...no(2), polls: true }), 'errors'), undefined)
  })

  it('nothingNew: eight steps without a change, the last five without a new name', () => {
    const names = (at: number) => `src/part${at}.ts and src/part${at + 1}.ts`
    const see = (at: number, shown: number): WantedCall => ({ name: 'see', input: { at }, output: names(shown) })
    const stuck = [see(0, 1), see(1, 3), see(2, 5), ...times(5, (at) => see(at + 3, 1 + (at % 5)))]
    assert.is(ruleOf(logOf(...stuck), 'nothingNew'), 'nothingNew')
    assert.is(ruleOf(logOf(...stuck.slice(1)), 'nothingNew'), undefined)
    assert.is(ruleOf(logOf(...stuck.with(6, see(6, 70))), 'nothingNew'), undefined)
    assert.is(ruleOf(logOf(...stuck.with(1, { ...see(1, 3), changed: ['a.ts'] })), 'nothingNew'), undefined)
  })
})

describe('what counts for a stall', (it) => {
  it('is only what came after a person last spoke', () => {
    const log = logOf(look, look)
    log.user('go on', 'steering')
    add(log, look, look)
    assert.is(ruleOf(log), undefined)
    add(log, look)
    assert.equal(stallOf(log.conversation)!.target, 6)
  })

  it('is also what a revert abandoned; the target is on the trunk', () => {
    const log = logOf(other(1), look)
    log.revert('n3')
    add(log, look)
    log.revert('n3')
    add(log, look)
    const stall = stallOf(log.conversation)!
    assert.equal([stall.rule, stall.steps, stall.target], ['repeat', [4, 6, 8], 3])
    log.revert('n1')
    assert.is(stallOf(log.conversation)!.target, 1)
  })

  it('does not begin anew with messages that a revert repeats', () => {
    const log = new BrakeLog({ policy: { onUserMessage: 'rebase' } })
    log.user('the task')
    log.step([other(1)])
    log.user('mind the gap')
    add(log, look, look)
    log.revert('n1')
    add(log, look)
    assert.is(ruleOf(log), 'repeat')
  })

  it('is no call that a person or a crash cut short', () => {
    for (const synthetic of ['aborted', 'skipped', 'interrupted'] as const) {
      const cut: WantedCall = { name: 'run', synthetic, isError: true, output: 'Interrupted.' }
      assert.is(ruleOf(logOf(cut, cut, cut)), undefined, synthetic)
    }
  })

  it('is no call that declares that it polls', () => {
    const poll: WantedCall = { ...failing('not yet'), polls: true }
    assert.is(ruleOf(logOf(...times(16, () => poll))), undefined)
    assert.is(ruleOf(logOf(poll, other(1), poll, other(1))), undefined)
    assert.is(ruleOf(logOf(...times(16, () => poll)), 'repeat4', 'errors', 'nothingNew'), undefined)
  })

  it('is no command that waits', () => {
    for (const command of ['sleep 60 && echo done', 'tail -f log', 'while ! test -f a; do sleep 1; done'])
      assert.is(ruleOf(logOf(...times(16, () => ({ name: 'run', input: { command }, output: 'done' })))), undefined)
    const rounds = times(6, () => [{ name: 'bash', input: { cmd: 'sleep 60' }, output: '' }, look]).flat()
    assert.is(ruleOf(logOf(...rounds)), undefined, 'nor what is looked at in between')
    assert.is(
      ruleOf(logOf(...times(4, () => ({ name: 'run', input: { command: 'echo sleep' }, output: '' })))),
      'repeat',
    )
  })

  it('is the same after the log was read again', () => {
    const log = logOf(other(1), look, { ...other(2), polls: true }, look, look, look)
    log.revert('n3')
    assert.equal(stallOf(rebuildConversation(log.records)), stallOf(log.conversation))
    assert.is(ruleOf(log), 'repeat')
  })
})

describe('looking for a stall', (it) => {
  /** Counts how often nodes are asked for. */
  function counted({ conversation }: BrakeLog): StallSubject & { asked: number } {
    return {
      asked: 0,
      lastNodeId: conversation.lastNodeId,
      node(id): ConversationNode | undefined {
        this.asked += 1
        return conversation.node(id)
      },
      onTrunk: (id) => conversation.onTrunk(id),
    }
  }

  it('takes as long for a long log as for a short one', () => {
    const [short, long] = [40, 4_000].map((count) => counted(logOf(...times(count, other))))
    stallOf(short!)
    stallOf(long!)
    assert.ok(long!.asked <= short!.asked && long!.asked < 100, `${long!.asked} of ${short!.asked}`)
  })

  it('reads the newest step alone when the others are known', () => {
    const log = logOf(...times(10, other))
    stallOf(log.conversation)
    add(log, other(11))
    const subject = counted(log)
    stallOf(subject)
    // Its own results, and each node of the last steps once.
    assert.ok(subject.asked <= 2 * 11 + 1 + 2, `${subject.asked}`)
  })

  it('comes through texts made to slow it down', () => {
    const million = 1_000_000
    for (const output of [
      '1'.repeat(million),
      '1.'.repeat(million / 2),
      `1${' '.repeat(million)}`,
      'duration_ms'.repeat(million / 11),
      '/'.repeat(million),
      'a/'.repeat(million / 2),
      'error '.repeat(million / 6),
      '\n'.repeat(million),
    ]) {
      assert.is(ruleOf(logOf(...times(3, () => failing(output)))), 'repeat')
    }
    const long = (output: string): WantedCall => ({ name: 'run', output })
    for (const output of ['1,234'.repeat(2_000_000), '٣'.repeat(10_000_000), '12 % '.repeat(2_000_000)])
      assert.is(ruleOf(logOf(...times(3, () => long(output)))), 'repeat')
    for (const command of [
      'sleep 1;'.repeat(125_000),
      '"'.repeat(million),
      '<<A '.repeat(250_000),
      `bash -c '${'('.repeat(million)}'`,
    ])
      assert.is(ruleOf(logOf(...times(2, () => ({ name: 'run', input: { command }, output: 'a' })))), undefined)
    const differing = (at: number): WantedCall => ({ ...look, output: `${'x'.repeat(million)}${at}${'y'.repeat(100)}` })
    assert.is(ruleOf(logOf(...times(3, differing))), undefined)
  })

  it('comes through arguments that are nested a thousand deep, and through long ones', () => {
    let input: unknown = 'end'
    for (let i = 0; i < 1_000; i++) input = { input }
    assert.is(ruleOf(logOf(...times(3, () => ({ ...look, input })))), 'repeat')
    const stall = stallOf(logOf(...times(3, () => ({ ...look, input: { text: 'long '.repeat(9_000) } }))).conversation)!
    assert.ok(stall.evidence.length <= 300)
  })

  it('tells of the first few of many calls', () => {
    const many = times(9, other)
    const { evidence } = stallOf(logOf(many, many, many).conversation)!
    assert.match(evidence, /other at=0; other at=1; other at=2; 6 more$/)
  })
})

describe('a fingerprint', (it) => {
  it('tells pieces apart, and what looks alike as text', () => {
    const hashes = [
      new TextHash().add('ab').add('c'),
      new TextHash().add('a').add('bc'),
      new TextHash().add('abc'),
      new TextHash().add('abc').add(''),
      ...[1, '1', [1], ['1'], { 0: 1 }, null, 'null', [], {}, [[]], [{}], true].map((value) =>
        new TextHash().addJson(value),
      ),
    ]
    assert.is(new Set(hashes.map(({ value }) => value)).size, hashes.length)
  })
})
