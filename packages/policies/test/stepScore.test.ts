import { StepRecord, stepScore, type StepMerits } from '../src/stepScore.ts'
import { BrakeLog } from '../../../test/support/brakeLog.ts'
import { assert, describe } from '../../../test/support/suite.ts'

/** Merits of each step of the model on the trunk. */
function meritsOf(log: BrakeLog): StepMerits[] {
  const record = StepRecord.of(log.conversation)
  for (const _ of record.learn(log.conversation));
  return log.conversation.steps().flatMap(({ id }) => record.meritsOf(id) ?? [])
}

const begun = (said = 'the task'): BrakeLog => {
  const log = new BrakeLog()
  log.user(said)
  return log
}
const scores = (log: BrakeLog): number[] => meritsOf(log).map(stepScore)

describe('the record of steps', (it) => {
  it('counts calls, failures and changes', () => {
    const log = begun()
    log.step([{}, { isError: true }])
    log.step([{ changed: ['a.ts'] }])
    log.step([{ changed: ['b.ts'], isError: true }])
    log.step([{ isIrreversible: true }])
    log.reply('done')
    assert.equal(
      meritsOf(log).map(({ calls, failed, hasChanged }) => [calls, failed, hasChanged]),
      [
        [2, 1, false],
        [1, 0, true],
        [1, 1, false],
        [1, 0, true],
        [0, 0, false],
      ],
    )
  })

  it('knows which names of a result were new', () => {
    const log = begun('look at src/known.ts')
    log.step([{ output: 'src/known.ts src/fresh.ts parseUser2 other_name' }])
    log.step([{ output: 'src/fresh.ts new_thing' }])
    log.step([{ output: 'nothing to name' }])
    assert.equal(
      meritsOf(log).map(({ newShare }) => newShare),
      [0.75, 0.5, 0],
    )
  })

  it('does not take for new what the agent named itself', () => {
    const log = begun()
    log.step([{ input: { path: 'src/asked.ts' }, output: 'src/asked.ts' }])
    assert.is(meritsOf(log)[0]!.newShare, 0)
  })

  it('knows which step showed first what the agent writes later, each name once', () => {
    const log = begun()
    log.step([{ output: 'src/first.ts src/second.ts' }])
    log.step([{ output: 'src/first.ts src/third.ts' }])
    const used = (): number[] => meritsOf(log).map((merits) => merits.used)
    assert.equal(used(), [0, 0])
    log.step([{ input: { path: 'src/first.ts' } }])
    assert.equal(used(), [1, 0, 0])
    log.reply('I read src/first.ts, src/second.ts and src/third.ts.')
    assert.equal(used(), [2, 1, 0, 0])
  })

  it('counts a repetition only while nothing was changed in between', () => {
    const log = begun()
    const look = { name: 'look', output: 'the same' }
    for (const calls of [
      [look],
      [{ name: 'other' }],
      [look],
      [{ changed: ['a.ts'] }],
      [look],
      [{ ...look, output: 'new' }],
    ])
      log.step(calls)
    assert.equal(
      meritsOf(log).map(({ repeats }) => repeats),
      [false, false, true, false, false, false],
    )
  })

  it('does not count as a repetition what waits for something', () => {
    const log = begun()
    for (let i = 0; i < 3; i++) log.step([{ polls: true, output: 'still running' }])
    assert.ok(meritsOf(log).every(({ repeats }) => !repeats))
  })

  it('leaves out what was recalled, which was shown before', () => {
    const log = begun()
    log.step([{ name: 'recall', output: 'src/recalled.ts' }])
    log.step([{ output: 'src/recalled.ts' }])
    assert.equal(
      meritsOf(log).map(({ newShare }) => newShare),
      [0, 1],
    )
  })

  it('remembers what an abandoned step has shown', () => {
    const log = begun()
    log.step([{ output: 'src/there.ts' }])
    log.step([{ output: 'src/gone.ts' }])
    meritsOf(log)
    log.revert('n3')
    log.step([{ output: 'src/gone.ts' }])
    assert.equal(
      meritsOf(log).map(({ newShare }) => newShare),
      [1, 0],
    )
  })

  it('knows the same whether it was asked after every step or once', () => {
    const [often, once] = [begun(), begun()]
    for (const log of [often, once])
      for (let i = 0; i < 30; i++) {
        log.step([
          {
            input: { path: `src/file${i % 7}.ts` },
            output: `src/file${(i * 3) % 11}.ts name_${i}`,
            isError: i % 5 === 0,
          },
        ])
        if (i === 12) log.user('go on with src/file3.ts')
        if (i === 20) log.revert(String(log.conversation.steps().at(-3)!.id))
        if (log === often) meritsOf(log)
      }
    assert.equal(meritsOf(often), meritsOf(once))
  })

  it('goes on over the ids of summaries', () => {
    const log = begun()
    for (let i = 0; i < 4; i++) log.step([{ output: `name_${i}_x` }])
    assert.ok(log.compact())
    log.step([{ output: 'name_5_x name_0_x' }])
    assert.is(meritsOf(log).at(-1)!.newShare, 0.5)
  })

  it('may be read by two at a time', () => {
    const log = begun()
    for (let i = 0; i < 4; i++) log.step([{ output: `name_${i}_x` }])
    const record = StepRecord.of(log.conversation)
    const [one, two] = [record.learn(log.conversation), record.learn(log.conversation)]
    for (let isDone = false; !isDone;) isDone = [one.next(), two.next()].every(({ done }) => done === true)
    assert.equal(
      meritsOf(log).map(({ newShare }) => newShare),
      [1, 1, 1, 1],
    )
  })

  it('knows nothing of messages of people', () => {
    const log = begun()
    meritsOf(log)
    assert.is(StepRecord.of(log.conversation).meritsOf(1), undefined)
  })
})

describe('the score of a step', (it) => {
  const merits: StepMerits = {
    calls: 1,
    failed: 0,
    hasChanged: false,
    repeats: false,
    newShare: 0,
    used: 0,
    isDenied: false,
  }
  for (const [title, more, score] of [
    ['a call that showed nothing new', {}, 0.2],
    ['a call that failed', { failed: 1 }, 0],
    ['calls of which one failed', { calls: 2, failed: 1 }, 0.2],
    ['a change', { hasChanged: true }, 0.6],
    ['names that were all new', { newShare: 1 }, 0.45],
    ['an error with names that were new', { failed: 1, newShare: 0.5 }, 0.13],
    ['a name that was used', { newShare: 1, used: 1 }, 0.8],
    ['everything', { newShare: 1, used: 9, hasChanged: true }, 1],
    ['a repetition', { repeats: true, newShare: 1 }, 0.05],
    ['words', { calls: 0 }, 0.5],
    ['a denied call', { isDenied: true, failed: 1 }, 1],
  ] as const) {
    it(`is ${score} for ${title}`, () => assert.is(stepScore({ ...merits, ...more }), score))
  }

  it('tells work from going in circles', () => {
    const log = begun()
    log.step([{ output: 'src/parser.ts' }])
    for (let i = 0; i < 2; i++) log.step([{ name: 'run', output: 'the test fails', isError: true }])
    log.step([{ input: { path: 'src/parser.ts' }, changed: ['src/parser.ts'] }])
    assert.equal(scores(log), [0.8, 0, 0.05, 0.6])
  })
})
