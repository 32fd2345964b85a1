import { leavingSteps } from '../../../src/inspector/model/conversation/leavingSteps.ts'
import { BrakeLog } from '../../../../../test/support/brakeLog.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

describe('what a revert or a prune takes away', (it) => {
  it('is told step by step, and counted: edits that were made, calls that failed, messages of people', () => {
    const log = new BrakeLog()
    log.user('Write it\n down.')
    log.step([
      { name: 'write_file', input: { path: 'a.ts', content: 'a' } },
      { name: 'write_file', input: { path: '../b.ts', content: 'b' }, isError: true },
    ])
    log.step([{ name: 'look', input: {}, isError: true, synthetic: 'skipped' }])
    log.reply('Done.')
    const { steps, words } = leavingSteps(log.conversation.path, 10)
    assert.is(words, '4 steps · 1 edit, 1 failed call, 1 message of people')
    assert.equal(
      steps.map(({ id, words: said, isBad }) => [id, said, isBad]),
      [
        [1, 'Write it down.', false],
        [2, 'write_file path: "a.ts", content: "a" · write_file path: "../b.ts", content: "b"', true],
        [5, 'look', false],
        [7, 'Done.', false],
      ],
    )
  })

  it('is counted whole, and told as far as there is room', () => {
    const log = new BrakeLog()
    for (const said of ['one', 'two', 'three']) log.user(said)
    const { steps, total, words } = leavingSteps(log.conversation.path, 2)
    assert.equal([steps.length, total, words], [2, 3, '3 steps · 3 messages of people'])
  })

  it('is nothing when nothing is taken', () => {
    assert.equal(leavingSteps([], 10), { total: 0, steps: [], words: '0 steps' })
  })
})
