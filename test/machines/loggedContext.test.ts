import * as fc from 'fast-check'
import { moves, policies } from '../support/arbitraries.ts'
import { checkLogged } from '../support/loggedContext.ts'
import { someRuns } from '../support/seeds.ts'
import { assert, describe } from '../support/suite.ts'
import { AgentScript } from './agentScript.ts'
import { Wanderer } from './wanderer.ts'

const seed = 20_260_130

describe('what the records of a transition say', (it) => {
  it('is what the agent has become, whatever happens to it, but for what dies with its process', () => {
    const more = fc.constantFrom(
      {},
      { agents: ['helper'] },
      { background: { always: ['tool'], choice: [], max: 2 } },
      { agents: ['helper'], background: { always: ['tool'], choice: [], max: 16 } },
    )
    const road = fc.property(policies, more, moves({ maxLength: 40 }), (policy, added, moved) => {
      // The driver compares at every step.
      const wanderer = new Wanderer({ ...policy, ...added })
      for (const move of moved) wanderer.play(move)
      wanderer.rest()
    })
    fc.assert(road, { seed, numRuns: someRuns(400), endOnFailure: true })
  })

  it('is compared in every part that a log has', () => {
    const script = new AgentScript()
    const before = script.context
    script.prompt('Go.')
    const first = script.driver.records.length
    const asking = script.context
    script.reply({ calls: ['c1'] })
    const calling = script.context
    const records = script.driver.records.slice(first)
    checkLogged(asking, records, calling)
    const run = calling.run!
    const [call] = calling.calls
    const slips: readonly Partial<typeof calling>[] = [
      { turns: 7 },
      { owesReply: false },
      { isTurnOpen: false },
      { pausedRun: 'a/r0' },
      { failedRun: 'a/r0' },
      { pause: { type: 'interrupted' } },
      { children: 1 },
      { calls: [] },
      { calls: [{ ...call!, input: 'another' }] },
      { calls: [{ ...call!, status: 'held' }] },
      { run: { ...run, costUsd: 5 } },
      { run: { ...run, turns: 2 } },
      { run: { ...run, childTurns: 2 } },
      { run: { ...run, attempt: 2 } },
      { run: { ...run, lastStopReason: 'refusal' } },
    ]
    for (const slip of slips)
      assert.throws(() => checkLogged(asking, records, { ...calling, ...slip }), /the log says/, JSON.stringify(slip))
    assert.throws(() => checkLogged(before, records, calling), /the log says/)
    for (const live of [{ retryAt: 2 }, { deadlinePassed: true }, { abortedBy: 'x' }])
      checkLogged(asking, records, { ...calling, run: { ...run, ...live } })
  })
})
