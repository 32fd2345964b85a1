import { sharedBy } from '../../../src/inspector/model/branches/forks.ts'
import { whyNotFork } from '../../../src/inspector/model/agent/controls.ts'
import { having } from '../../../../../test/support/having.ts'
import { BrakeLog } from '../../../../../test/support/brakeLog.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

const there = { may: having('admin'), connection: 'open', hasToken: true, isRecording: false } as const

describe('what a fork shares', (it) => {
  const log = new BrakeLog()
  log.user('find it')
  log.step([
    { name: 'look', output: 'nothing' },
    { name: 'look', output: 'gold' },
  ])
  log.reply('There is gold.')
  const said = log.conversation

  it('is a step with all its results, whichever of its messages is chosen', () => {
    assert.equal(sharedBy(said, 1), { messages: 1, turns: 0, last: 1 })
    for (const id of [2, 3, 4]) assert.equal(sharedBy(said, id), { messages: 4, turns: 1, last: 4 })
    assert.equal(sharedBy(said, 5), { messages: 5, turns: 2, last: 5 })
  })

  it('is nothing where there is no such message', () => {
    assert.equal(sharedBy(said, 9), { messages: 0, turns: 0, last: 9 })
  })
})

describe('who may fork', (it) => {
  it('is who may start agents, of what can be read, also in the past', () => {
    assert.is(whyNotFork(there, 'live'), null)
    assert.is(whyNotFork(there, 'past'), null)
    assert.match(String(whyNotFork(there, 'loading')), /not there yet/)
    assert.match(String(whyNotFork({ ...there, may: having('drive') }, 'live')), /needs the right "spawn"/)
    assert.match(String(whyNotFork({ ...there, may: having('observe') }, 'live')), /only lets you look/)
    assert.match(String(whyNotFork({ ...there, connection: 'connecting' }, 'live')), /no connection/)
  })
})
