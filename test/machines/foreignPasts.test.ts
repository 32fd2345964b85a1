import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { restoreInput } from '../../src/runtime/agents/restoreInput.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { tool } from '../support/agentHarness.ts'
import { restoring } from '../support/restoring.ts'
import { assert, describe } from '../support/suite.ts'
import { AgentScript } from './agentScript.ts'
import { agentIn, places, policyFor, type Place } from './everyState.ts'

const definition = defineAgent({
  name: 'tester',
  model: scriptedModel([]),
  tools: [tool('tool', () => 'x', { effects: 'none' })],
})

/** An agent that goes on from a log, woken. */
function opened(place: Place, records: readonly LogRecord[]): AgentScript {
  const restored = restoreInput({ past: [], records }, rebuildConversation(records), restoring(definition))
  const script = new AgentScript(policyFor(place), { records, input: { restored } })
  script.driver.send({ type: 'wake' })
  return script
}

/** Everything of an agent that goes on by itself, or that somebody has allowed or asked for. */
const openIn = ({ context, state, underway }: AgentScript) => ({
  state,
  underway,
  run: context.run,
  calls: context.calls,
  prompts: context.prompts,
  steering: context.steering,
  followUps: context.followUps,
  reverts: context.reverts,
  grafts: context.grafts,
  prunes: context.prunes,
  pins: context.pins,
  compactRequests: context.compactRequests,
  policyRequests: context.policyRequests ?? [],
  undoing: context.undoing,
  consulting: context.consulting,
  isCompacting: context.isCompacting,
  use: context.frame?.use ?? null,
  pause: context.pause,
  pausedRun: context.pausedRun,
  failedRun: context.failedRun,
  reporters: context.reporters,
  owesReply: context.owesReply,
  isTurnOpen: context.isTurnOpen,
})

const nothing: ReturnType<typeof openIn> = {
  state: 'idle',
  underway: [],
  run: null,
  calls: [],
  prompts: [],
  steering: [],
  followUps: [],
  reverts: [],
  grafts: [],
  prunes: [],
  pins: [],
  compactRequests: [],
  policyRequests: [],
  undoing: null,
  consulting: null,
  isCompacting: false,
  use: null,
  pause: null,
  pausedRun: null,
  failedRun: null,
  reporters: [],
  owesReply: false,
  isTurnOpen: false,
}

const deeds: { readonly [deed: string]: (script: AgentScript) => void } = {
  'left alone': () => {},
  'spoken to': (script) => {
    script.prompt('then')
    script.steer('no')
    script.followUp('and')
  },
  'asked for changes': (script) => {
    script.revert('n2')
    script.graft('n2')
    script.prune('n2')
    script.pin('n2')
    script.askCompaction()
    script.brake()
  },
  'told what to use': (script) => script.use({ instructions: 'Obey me.', tools: ['tool'] }),
}

const living = places.filter((place) => place !== 'stopped')

describe('the past of another party', (it) => {
  for (const place of living)
    it(`is over once it is opened, whatever its agent was at: ${place}`, () => {
      for (const [deed, act] of Object.entries(deeds)) {
        const there = agentIn(place)
        act(there)
        const past = there.driver.records.map((record) => ({ ...record, foreign: true as const }))
        const closed = opened(place, past)
        assert.equal(openIn(closed), nothing, deed)
        const { records } = closed.driver
        assert.equal(records.slice(0, past.length), past)
        assert.not(
          records.slice(past.length).some(({ foreign }) => foreign),
          deed,
        )
        // What reads the log is told as well.
        const isTold = records.slice(past.length).some((record) => record.type === 'use.changed' && record.use === null)
        assert.is(isTold, deed === 'told what to use')
        const again = opened(place, records)
        assert.equal(openIn(again), nothing, `${deed}, opened again`)
        assert.is(again.driver.records.length, records.length, `${deed}, opened again`)
        again.prompt('go')
        assert.ok(['preparing', 'replying.requesting'].includes(again.state), deed)
      }
    })

  it('that failed is not to be gone on with, and one that is whole is left as it is', () => {
    const failed = agentIn('replying.requesting')
    failed.failReply('auth')
    assert.is(failed.context.failedRun === null, false)
    const answered = agentIn('replying.requesting')
    answered.reply()
    for (const [script, types] of [
      [failed, ['run.abandoned']],
      [answered, []],
    ] as const) {
      const past = script.driver.records.map((record) => ({ ...record, foreign: true as const }))
      const closed = opened('idle', past)
      assert.equal(openIn(closed), nothing)
      assert.equal(closed.types(past.length), types)
    }
  })

  it('is rid of a policy that was at work', () => {
    const there = agentIn('draining.consulting')
    there.fire()
    const past = there.driver.records.map((record) => ({ ...record, foreign: true as const }))
    const closed = opened('draining.consulting', past)
    assert.equal(openIn(closed), nothing)
    const [end, ...more] = closed.driver.recordsOf('policy.end')
    assert.equal([end?.policy, end?.outcome, end?.reason, more], ['tidy', 'failed', 'the session was imported', []])
  })

  it('says in its results and its ends why it does not go on', () => {
    const there = agentIn('paused for approvals')
    there.prune('n2')
    const past = there.driver.records.map((record) => ({ ...record, foreign: true as const }))
    const closed = opened('paused for approvals', past)
    const results = closed.driver.recordsOf('tool.end').map(({ callId, message }) => [callId, message.synthetic])
    assert.equal(results, [
      ['c1', 'interrupted'],
      ['c2', 'interrupted'],
    ])
    assert.equal(
      closed.driver.recordsOf('run.end').map(({ stopReason }) => stopReason),
      ['aborted'],
    )
  })
})
