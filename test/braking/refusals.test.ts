import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { BrakeLog, notesIn, textIn } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'

/** user n1, steps ending at n3, n5, n7. */
function worked(options: ConstructorParameters<typeof BrakeLog>[0] = {}): BrakeLog {
  const log = new BrakeLog(options)
  log.user('go')
  for (let n = 0; n < 3; n++) log.step([{ output: `seen ${n}` }])
  return log
}

const refusals: readonly [title: string, make: () => { log: BrakeLog; step: string }, reason: string][] = [
  ['a step that does not exist', () => ({ log: worked(), step: 'n999' }), 'revert target n999 not found'],
  ['a step without the letter', () => ({ log: worked(), step: '999' }), 'revert target n999 not found'],
  ['no step at all', () => ({ log: worked(), step: '' }), 'revert target "" not found'],
  ['a word', () => ({ log: worked(), step: 'x' }), 'revert target "x" not found'],
  ['zero', () => ({ log: worked(), step: 'n0' }), 'revert target "n0" not found'],
  ['a fraction', () => ({ log: worked(), step: '1.5' }), 'revert target "1.5" not found'],
  [
    'a number too large to be one',
    () => ({ log: worked(), step: '9'.repeat(40) }),
    `revert target "${'9'.repeat(40)}" not found`,
  ],
  [
    'an abandoned step',
    () => {
      const log = worked()
      log.revert('n3')
      return { log, step: 'n5' }
    },
    'revert refused: n5 is not on the current trunk',
  ],
  ['the newest step', () => ({ log: worked(), step: 'n7' }), 'revert refused: nothing to abandon after n7'],
  [
    'the newest step by its first node',
    () => ({ log: worked(), step: 'n6' }),
    'revert refused: nothing to abandon after n6',
  ],
  [
    'a step inside a summary',
    () => {
      const log = worked()
      log.step([{}])
      log.compact({ first: 1, recent: 1 })
      return { log, step: 'n5' }
    },
    'revert refused: n5 was compacted; nearest targets: n1, n10, n9',
  ],
  [
    'a step reverted to twice',
    () => {
      const log = worked()
      for (let n = 0; n < 2; n++) {
        log.revert('n1')
        log.step([{}])
      }
      return { log, step: 'n1' }
    },
    'revert refused: n1 was already reverted to 2 times',
  ],
  [
    'a step before something a person said',
    () => {
      const log = worked()
      log.user('also')
      log.step([{}])
      return { log, step: 'n3' }
    },
    'revert refused: abandoned span contains a user message',
  ],
]

describe('a revert is refused', (it) => {
  for (const [title, make, reason] of refusals) {
    it(`to ${title}, with its own reason and nothing else changed`, () => {
      const { log, step } = make()
      const before = { trunk: log.trunkIds(), tags: log.conversation.tags(), last: log.conversation.lastNodeId }
      const outcome = log.revert(step)
      assert.is(outcome.applied, false)
      assert.ok(outcome.reason?.startsWith(reason), outcome.reason)
      assert.is(outcome.requested, step)
      assert.equal({ trunk: log.trunkIds(), tags: log.conversation.tags(), last: log.conversation.lastNodeId }, before)
      const notes = notesIn(log.assemble().request.messages)
      assert.ok(notes.at(-1)!.startsWith(`<brake-note kind="refusal">${reason}`), notes.join())
      assert.match(notes.at(-1)!, /Valid targets: (none|n\d+)/)
    })
  }

  it('names only targets that would be accepted', () => {
    for (const [, make] of refusals) {
      const { log, step } = make()
      const names = /Valid targets: (.*)$/.exec(log.revert(step).reason ?? '')![1]!.split(', ')
      for (const name of names) {
        if (name === 'none') continue
        const copy = new BrakeLog()
        for (const record of log.records) copy.conversation.apply(record)
        copy.records.push(...log.records)
        const { reason = '' } = copy.revert(name)
        assert.not.match(reason, /not found|not on the current trunk|nothing to abandon|compacted/)
      }
    }
  })

  it('beside one that was applied, naming targets that are still on the trunk', () => {
    const log = worked()
    const [, refused] = log.drain({ step: 'n3', summary: 'a' }, { step: 'n99', summary: 'b' })
    const names = /Valid targets: (.*)$/.exec(refused?.reason ?? '')![1]!.split(', ')
    for (const name of names) assert.ok(name === 'none' || log.conversation.onTrunk(Number(name.slice(1))), name)
  })

  it('for the first reason of the table that holds', () => {
    const log = worked()
    log.revert('n3')
    log.step([{}])
    log.user('more')
    log.step([{}])
    const reasons = log
      .drain({ step: 'n1' }, { step: 'n10' }, { step: 'n99' }, { step: 'n5' }, { step: 'n12' }, { step: 'n3' })
      .map(({ applied, reason = 'applied' }) => (applied ? 'applied' : reason.replace(/\. Valid targets.*/, '')))
    assert.equal(reasons, [
      'revert refused: abandoned span contains a user message',
      'applied',
      'revert target n99 not found',
      'revert refused: n5 is not on the current trunk',
      'revert refused: nothing to abandon after n12',
      'revert refused: one revert per turn',
    ])
  })

  it('the third time to one step, by what the log says, until a person speaks', () => {
    const log = worked()
    for (const expected of [true, true, false, false]) {
      assert.is(log.revert('n1').applied, expected)
      log.step([{}])
    }
    assert.is(rebuildConversation(log.records).annotations?.revertsTo(1), 2)
    const asked = log.user('try again')
    log.step([{}])
    assert.is(log.revert(asked).applied, true)
    assert.is(rebuildConversation(log.records).annotations?.revertsTo(1), 0)
  })

  it('with a reason that stays short however long the step asked for is', () => {
    const log = worked()
    const { reason = '' } = log.revert('z'.repeat(100_000))
    assert.ok(reason.length < 1_000, `${reason.length} characters`)
  })

  it('to a hidden step, or shows its lesson', () => {
    const log = worked()
    log.prune({ steps: ['n3'] })
    const { applied } = log.revert('n3', 'the lesson of a hidden step')
    if (applied) assert.match(textIn(log.assemble().request.messages), /the lesson of a hidden step/)
  })
})

describe('what the model is told when the newest step is one that a summary stands for', (it) => {
  it('is shown after the summary, and counted, until another takes its place', () => {
    const log = worked()
    log.revert('n999', 'too early')
    const summary = log.compact()
    assert.ok(log.revert(`n${summary}`).applied)
    const before = log.conversation.trunkTokens
    log.revert('n998', 'in vain')
    const told = (): string[] =>
      notesIn(log.assemble().request.messages).filter((note) => note.startsWith('<brake-note kind="refusal"'))
    assert.is(told().length, 1)
    assert.match(told()[0]!, /n998 not found/)
    assert.is(log.conversation.trunkTokens - before, log.conversation.counter.text(told()[0]!))
    assert.equal(rebuildConversation(log.records).notes, log.conversation.notes)
    log.step([{ output: 'more' }])
    log.step([{ output: 'more' }])
    assert.is(told().length, 1)
    log.compact()
    assert.equal(told(), [])
  })
})
