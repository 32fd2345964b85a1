import { assert, describe } from '../support/suite.ts'
import type { AgentScript } from './agentScript.ts'
import { agentIn, busyPlaces, places } from './everyState.ts'

const withoutTime = ({ driver }: AgentScript) => driver.records.map(({ time: _, ...record }) => record)
const dropped = ({ driver }: AgentScript) =>
  driver.recordsOf('queue.changed').filter(({ why, queue }) => why === 'dropped' && queue === 'prompts')

describe('a run that is taken back by its request', (it) => {
  for (const place of busyPlaces) {
    it(`ends in ${place} as by an abort`, () => {
      const [aborted, withdrawn] = [agentIn(place), agentIn(place)]
      const { requestId } = withdrawn.driver.context.run!
      aborted.abort()
      withdrawn.driver.send({ type: 'withdraw', id: requestId })
      for (const script of [aborted, withdrawn]) if (script.state === 'settling') script.settle()
      assert.equal(withoutTime(withdrawn), withoutTime(aborted))
      assert.is(withdrawn.state, aborted.state)
    })
  }

  for (const place of places.filter((each) => each !== 'stopped')) {
    it(`changes nothing in ${place} when it is over, or never was`, () => {
      const script = agentIn(place)
      const before = withoutTime(script)
      const { state } = script
      script.driver.send({ type: 'withdraw', id: 'long ago' })
      assert.equal([withoutTime(script), script.state], [before, state])
    })
  }

  for (const place of busyPlaces) {
    it(`leaves the queue in ${place} while it waits, and the run goes on`, () => {
      const script = agentIn(place)
      script.driver.send({
        type: 'prompt',
        id: 'w1',
        content: [{ type: 'text', text: 'later' }],
        at: script.driver.now,
      })
      script.driver.send({
        type: 'prompt',
        id: 'w2',
        content: [{ type: 'text', text: 'later' }],
        at: script.driver.now,
      })
      const { state } = script
      script.driver.send({ type: 'withdraw', id: 'w1' })
      script.driver.send({ type: 'withdraw', id: 'w1' })
      assert.equal(
        dropped(script).map(({ removed, length }) => [removed, length]),
        [[['w1'], 1]],
      )
      assert.equal([script.state, script.driver.context.prompts.map(({ id }) => id)], [state, ['w2']])
    })
  }

  it('says which command ended it', () => {
    const script = agentIn('replying.streaming')
    const { requestId } = script.driver.context.run!
    script.driver.send({ type: 'withdraw', id: requestId, requestId: 'c9' })
    script.settle()
    const [end] = script.driver.recordsOf('run.end')
    assert.equal([end?.stopReason, end?.requestId], ['aborted', 'c9'])
  })
})
