import type { LogRecord } from '../../../src/protocol/records.ts'
import { foldLog } from '../../../src/log/fold.ts'
import { machineFold, pauseOf } from '../src/machineState.ts'
import { AgentScript } from '../../../test/machines/agentScript.ts'
import { agentIn, places } from '../../../test/machines/everyState.ts'
import { assert, describe } from '../../../test/support/suite.ts'

function toldBy(records: readonly LogRecord[]) {
  const state = foldLog(machineFold, records)
  return { ...state, pause: pauseOf(state) }
}

const told = (script: AgentScript) => toldBy(script.driver.records)

/** States as a log shows them: streaming, preparing and settling are not logged, nor a drain before it has come to something. */
const shown: { readonly [state: string]: string } = {
  'replying.streaming': 'replying.requesting',
  preparing: 'replying.requesting',
}

const open = ({ context }: AgentScript): string[] =>
  context.calls.flatMap(({ callId, status }) => (status === 'settled' ? [] : [callId]))

const lives: { readonly [life: string]: (script: AgentScript) => void } = {
  'two runs': (agent) => (agent.prompt('go'), agent.reply(), agent.prompt('again'), agent.reply()),
  'calls, one after the other': (agent) => {
    agent.prompt('go')
    agent.reply({ calls: ['c1', 'c2'] })
    agent.finishCall('c1')
    agent.finishCall('c2')
    agent.reply()
  },
  'an approval and a refusal': (agent) => {
    agent.prompt('go')
    agent.reply({
      calls: [
        { callId: 'c1', held: true },
        { callId: 'c2', held: true },
        { callId: 'c3', held: true },
      ],
    })
    agent.approve('c1')
    agent.deny('c2')
    agent.finishCall('c1')
    agent.deny('c3')
    agent.reply()
  },
  'a failure and another attempt': (agent) => {
    agent.prompt('go')
    agent.failReply('network')
    agent.wake('backoff')
    agent.failReply('auth')
    agent.resume()
    agent.reply()
  },
  'a limit and its end': (agent) => {
    agent.prompt('go', { limits: { turns: 1 } })
    agent.reply({ calls: ['c1'] })
    agent.finishCall('c1')
    agent.resume({ turns: 2 })
    agent.reply()
  },
  'a paused run that gives way': (agent) => {
    agent.prompt('go', { limits: { turns: 1 } })
    agent.reply({ calls: ['c1'] })
    agent.finishCall('c1')
    agent.prompt('leave it')
    agent.reply()
  },
  'an abort': (agent) => (agent.prompt('go'), agent.abort(), agent.settle(), agent.prompt('again'), agent.reply()),
  'a compaction': (agent) => {
    agent.prompt('go')
    agent.reply({ calls: ['c1'], contextTokens: 50_000 })
    agent.finishCall('c1')
    agent.compact()
    agent.reply()
  },
  'a stop': (agent) => (agent.prompt('go'), agent.stop(), agent.settle()),
}

/** The same agent, with a look after each thing that happens to it. */
function watched(look: (script: AgentScript) => void): AgentScript {
  const script = new AgentScript()
  const { driver } = script
  for (const name of ['send', 'finish'] as const) {
    const act = driver[name].bind(driver) as (...given: readonly unknown[]) => unknown
    Object.assign(driver, {
      [name]: (...given: readonly unknown[]) => {
        const result = act(...given)
        look(script)
        return result
      },
    })
  }
  return script
}

describe('the state of a machine, as its log tells it', (it) => {
  for (const [life, live] of Object.entries(lives))
    it(`is the machine's own all the way: ${life}`, () => {
      const states: string[] = []
      const script = watched((agent) => {
        // No record says that the wait for another attempt is over.
        const isAsking = agent.state !== 'backoff' && agent.driver.records.at(-1)?.type === 'reply.reset'
        if (agent.state === 'settling' || isAsking) return
        const { state, calls, pause, inRun } = told(agent)
        assert.is(state, shown[agent.state] ?? agent.state)
        assert.equal([...calls.keys()], open(agent))
        assert.equal([pause, inRun], [agent.context.pause, agent.context.run !== null])
        states.push(state)
      })
      live(script)
      assert.ok(states.length >= 2, states.join())
    })

  for (const place of places)
    if (!/settling|draining|store|overflow/.test(place))
      it(`is the machine's own: ${place}`, () => {
        const script = agentIn(place)
        const { state, pause } = told(script)
        assert.is(state, shown[script.state] ?? script.state)
        assert.equal(pause, script.context.pause)
      })

  it('is known in the middle of a step, too', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.reply({ calls: ['c1', { callId: 'c2', held: true }] })
    script.finishCall('c1')
    script.approve('c2')
    script.finishCall('c2')
    const after = (type: LogRecord['type']) => {
      const { records } = script.driver
      return toldBy(records.slice(0, 1 + records.findLastIndex((record) => record.type === type)))
    }
    const seen = ({ state, calls, pause }: ReturnType<typeof after>) => [state, [...calls], pause]
    assert.equal(seen(after('reply.end')), [
      'executing',
      [
        ['c1', 'ready'],
        ['c2', 'ready'],
      ],
      null,
    ])
    assert.equal(seen(after('approval.requested')), [
      'paused',
      [
        ['c1', 'ready'],
        ['c2', 'held'],
      ],
      approvals('c2'),
    ])
    assert.equal(seen(after('approval.decided')), ['executing', [['c2', 'ready']], null])
    assert.equal(seen(after('tool.start')), ['executing', [['c2', 'running']], null])
    assert.equal(seen(after('tool.end')), ['draining.entering', [], null])
  })

  it('is not moved by a record of a call that it does not have', () => {
    const script = agentIn('executing')
    const before = told(script)
    for (const type of ['tool.start', 'tool.end', 'approval.requested', 'question.asked'] as const)
      assert.equal(toldBy([...script.driver.records, { type, callId: 'other' } as LogRecord]), before)
  })

  it('is at rest again where a change was asked for at rest, and goes on from it in a run', () => {
    const changes: { readonly [T in LogRecord['type']]?: string } = {
      'compaction.end': 'draining.leaving',
      'prune.applied': 'draining.leaving',
      'revert.applied': 'draining.reverted',
      'graft.applied': 'draining.grafted',
      'undo.step': 'draining.undone',
      'undo.end': 'draining.undone',
      'pin.applied': 'draining.pinned',
      'stall.detected': 'draining.checked',
      'policy.start': 'draining.consulting',
      'policy.end': 'draining.consulted',
    }
    const { records } = agentIn('replying.requesting').driver
    const resting = (record: LogRecord) => toldBy([record])
    const running = (record: LogRecord) => toldBy([...records, record])
    for (const [type, state] of Object.entries(changes)) {
      const record = { type } as LogRecord
      assert.equal([running(record).state, resting(record).state], [state, 'idle'], type)
    }
    assert.is(resting({ type: 'compaction.start' } as LogRecord).state, 'compacting')
    for (const type of ['queue.changed', 'use.changed', 'pin.requested', 'guard.decided', 'unknown'] as const)
      assert.equal(running({ type } as LogRecord), toldBy(records), type)
  })
})

const approvals = (...callIds: string[]) => ({ type: 'approvals', callIds })
