import { startable } from '../../src/machines/calls.ts'
import { rebuildContext } from '../../src/machines/rebuildContext.ts'
import type { CallState, EventOfType } from '../../src/machines/agentTypes.ts'
import { assert, describe } from '../support/suite.ts'
import { AgentScript, diskFull, text } from './agentScript.ts'
import { agentIn, places } from './everyState.ts'

const question = { key: 'a/t0/tool/c1/q1', question: 'Who?', schema: { type: 'string' } }

const ask = (script: AgentScript, callId = 'c1'): void =>
  script.driver.send({
    type: 'ask',
    key: script.context.calls.find((call) => call.callId === callId)?.key ?? 'x',
    question,
    at: script.driver.now,
  })

type Decision = Pick<EventOfType<'decide'>, 'decision'> & { value?: unknown; reason?: string; result?: object }

const decide = (script: AgentScript, callId: string, decision: Decision): void =>
  script.driver.send({ type: 'decide', callId, ...decision, at: script.driver.now } as EventOfType<'decide'>)

const returned = { content: text('here'), isError: false, tokens: 3 }

function asked(policy: ConstructorParameters<typeof AgentScript>[0] = {}, calls = ['c1']): AgentScript {
  const script = new AgentScript(policy)
  script.prompt('go')
  script.reply({ calls })
  ask(script)
  return script
}

const statuses = ({ context }: AgentScript): string[] => context.calls.map(({ status }: CallState) => status)

describe('a call whose tool asks', (it) => {
  it('waits with its effect under way and the wall time stopped', () => {
    const script = asked({ limits: { ms: 1_000 } })
    assert.equal(
      [script.state, script.context.pause, statuses(script)],
      ['paused', { type: 'approvals', callIds: ['c1'] }, ['asking']],
    )
    assert.equal([...script.driver.children.keys()], ['call.0'])
    script.driver.now += 50_000
    decide(script, 'c1', { decision: 'answer', value: null })
    assert.equal([script.state, statuses(script), script.context.run?.deadline], ['executing', ['running'], 52_000])
    assert.equal([...script.driver.children.keys()].toSorted(), ['call.0', 'deadline'])
    script.finishCall('c1')
    assert.is(script.state, 'replying.requesting')
  })

  it('counts among those that run at once, as one does whose hook is asked', () => {
    for (const status of ['running', 'asking', 'checking'] as const)
      for (const count of [100, 98]) {
        const calls = [...Array.from({ length: count }, () => status), 'ready', 'ready', 'ready']
        const free = startable(
          calls.map((each) => ({ status: each }) as CallState),
          'parallel',
        ).length
        assert.is(free, 100 - count, `${count} ${status}`)
      }
  })

  it('is not asked over while it waits', () => {
    const script = asked({}, ['c1', 'c2'])
    ask(script)
    assert.equal([script.driver.recordsOf('question.asked').length, statuses(script)], [1, ['asking', 'running']])
  })

  it('is answered once, and by nothing but an answer', () => {
    const script = asked({}, ['c1', 'c2'])
    const records = script.driver.records.length
    decide(script, 'c1', { decision: 'approve' })
    decide(script, 'c1', { decision: 'return', result: returned })
    decide(script, 'c2', { decision: 'answer', value: 1 })
    assert.equal([script.driver.records.length, statuses(script)], [records, ['asking', 'running']])
    decide(script, 'c1', { decision: 'answer', value: 'Ann' })
    decide(script, 'c1', { decision: 'answer', value: 'Bob' })
    decide(script, 'c1', { decision: 'deny' })
    assert.equal(
      script.driver.recordsOf('question.answered').map(({ value }) => value),
      ['Ann'],
    )
    assert.equal(script.context.calls[0]!.answers, [{ question: 'Who?', decision: 'answer', value: 'Ann' }])
  })

  it('may end before it is answered, by itself or by a crash of its runner, wherever the agent is paused', () => {
    for (const crashes of [false, true])
      for (const fails of [false, true]) {
        const script = asked()
        if (fails) {
          script.failStore()
          script.driver.send({ type: 'steer', id: 's', content: text('go on'), at: 1 })
        }
        const child = script.driver.child('runTool')
        if (crashes) script.driver.crash(child, 'broken')
        else script.finishCall('c1')
        assert.is(script.driver.recordsOf('tool.end').length, 1)
        assert.is(script.driver.recordsOf('question.answered').length, 0)
        if (!fails) assert.is(script.state, 'replying.requesting')
      }
  })

  it('runs again, with its answers, if the store did not take the last one', () => {
    const script = asked()
    decide(script, 'c1', { decision: 'answer', value: 'Ann' })
    script.failStore()
    script.finishCall('c1', { notStarted: diskFull, content: [] })
    assert.equal([script.state, script.context.pause?.type, statuses(script)], ['paused', 'store', ['ready']])
    script.resume()
    const { input } = script.driver.child('runTool')
    assert.equal(input.answers, [{ question: 'Who?', decision: 'answer', value: 'Ann' }])
  })

  it('is stopped by an abort and by steering', () => {
    const aborted = asked()
    aborted.abort()
    aborted.settle()
    assert.equal([aborted.state, aborted.driver.children.size], ['idle', 0])
    const steered = asked()
    steered.steer('something else')
    assert.is(steered.driver.recordsOf('tool.end')[0]?.message.synthetic, 'skipped')
    assert.ok(!steered.driver.children.has('call.0'))
  })

  it('is not heard of when no call of that key runs', () => {
    for (const place of places) {
      const script = agentIn(place)
      const before = script.driver.records.length
      const state = script.state
      script.driver.send({ type: 'ask', key: 'a/t9/tool/x', question, at: script.driver.now })
      assert.equal([script.driver.records.length, script.state], [before, state], place)
    }
  })

  it('is rebuilt from the log as one that waits, and then as one that runs', () => {
    const script = asked()
    const { calls, pause } = rebuildContext(script.driver.records)
    assert.equal([calls.map(({ status }) => status), calls[0]!.question, pause], [['asked'], question, null])
    decide(script, 'c1', { decision: 'answer', value: 'Ann' })
    const after = rebuildContext(script.driver.records).calls[0]!
    assert.equal([after.status, after.answers], ['running', script.context.calls[0]!.answers])
  })
})

describe('a call for a client', (it) => {
  const requested = (): AgentScript => {
    const script = new AgentScript({ external: ['tool'] })
    script.prompt('go')
    script.reply({ calls: ['c1'] })
    return script
  }

  it('starts no effect, and ends with what the client returns', () => {
    const script = requested()
    assert.equal([script.state, statuses(script), script.driver.children.size], ['paused', ['requested'], 0])
    assert.is(rebuildContext(script.driver.records).calls[0]!.status, 'requested')
    decide(script, 'c1', { decision: 'answer', value: 1 })
    assert.equal(statuses(script), ['requested'])
    const before = script.context.contextTokens
    decide(script, 'c1', { decision: 'return', result: returned })
    assert.is(script.context.contextTokens, before + returned.tokens, 'what folds and compactions go by')
    const [end] = script.driver.recordsOf('tool.end')
    assert.equal([script.state, end?.message.content, end?.returned], ['replying.requesting', text('here'), {}])
  })

  it('asks for at most a hundred at once, and for the rest as they are answered', () => {
    const script = new AgentScript({ external: ['tool'] })
    script.prompt('go')
    const ids = Array.from({ length: 120 }, (_, i) => `c${i}`)
    script.reply({ calls: ids })
    for (const id of ids) decide(script, id, { decision: 'return', result: returned })
    assert.is(script.state, 'replying.requesting')
  })
})

describe('a decision', (it) => {
  const given: Readonly<Record<Decision['decision'], Decision>> = {
    approve: { decision: 'approve' },
    deny: { decision: 'deny' },
    answer: { decision: 'answer', value: 1 },
    return: { decision: 'return', result: returned },
  }
  const calling = (
    call: { readonly held?: boolean } = {},
    policy: ConstructorParameters<typeof AgentScript>[0] = {},
  ) => {
    const script = new AgentScript(policy)
    script.prompt('go')
    script.reply({ calls: [{ callId: 'c1', ...call }, 'c2'] })
    return script
  }
  /** How a call comes to wait, or not to; and the decisions that it takes then. */
  const waits: Readonly<Record<string, readonly [() => AgentScript, ...Decision['decision'][]]>> = {
    held: [() => calling({ held: true }), 'approve', 'deny'],
    asking: [() => asked({}, ['c1', 'c2']), 'answer', 'deny'],
    requested: [() => calling({}, { external: ['tool'] }), 'return', 'deny'],
    running: [() => calling()],
    settled: [
      () => {
        const script = calling()
        script.finishCall('c1')
        return script
      },
    ],
  }

  for (const [status, [start, ...taken]] of Object.entries(waits))
    for (const [decision, sent] of Object.entries(given)) {
      const isTaken = taken.includes(sent.decision)
      it(`to ${decision} ${isTaken ? 'counts for' : 'changes nothing of'} a call that is ${status}`, () => {
        const script = start()
        const before = script.driver.records.length
        const { context } = script
        assert.is(statuses(script)[0], status)
        decide(script, 'c1', sent)
        assert.is(script.driver.records.length > before, isTaken)
        if (isTaken) assert.is.not(statuses(script)[0], status)
        else
          assert.equal(
            [statuses(script), script.context.calls],
            [context.calls.map((one) => one.status), context.calls],
          )
      })
    }
})
