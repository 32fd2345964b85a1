import { calls, gate, quiet, startAgent, tool, withCode } from '../support/agentHarness.ts'
import { textIn } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'

const seen = tool('look', (input) => `seen ${JSON.stringify(input)}`, { effects: 'none' })

describe('a prune by a person', (it) => {
  for (const braking of [{ revert: true }, { prune: true }] as const)
    it(`works with ${JSON.stringify(braking)}, whether or not the model has the tool`, async (context) => {
      const { agent, until, ofType, script } = await startAgent(context, {
        braking,
        tools: [seen],
        replies: [calls('a', ['look', { at: 1 }]), calls('b', ['look', { at: 2 }]), 'done', 'more'],
      })
      await agent.prompt('go').result
      agent.prune({ steps: ['n3'], memo: 'looked at 1' })
      await until(({ type }) => type === 'prune.applied')
      assert.is(ofType('prune.requested')[0]?.request.by, 'person')
      assert.equal([ofType('prune.applied')[0]?.applied, ofType('prune.applied')[0]?.steps], [true, [2]])
      await agent.prompt('and now?').result
      const request = script.requests.at(-1)!
      assert.match(textIn(request.messages), /<brake-note kind="memo" span="n2">looked at 1/)
      assert.not.match(textIn(request.messages), /seen \{"at":1\}/)
      assert.is(
        request.tools.some(({ name }) => name === 'prun'),
        'prune' in braking,
      )
    })

  it('hides the oldest steps of the model until so many tokens are hidden', async (context) => {
    const { agent, until, ofType } = await startAgent(context, {
      braking: { revert: true },
      tools: [seen],
      replies: [calls('a', 'look'), calls('b', 'look'), 'done'],
    })
    await agent.prompt('go').result
    agent.prune({ tokens: 1 })
    await until(({ type }) => type === 'prune.applied')
    assert.equal(ofType('prune.applied')[0]?.steps, [2])
  })

  it('that is refused is told to the person and not to the model', async (context) => {
    const { agent, until, ofType, script } = await startAgent(context, {
      braking: { prune: true },
      tools: [seen],
      replies: [calls('a', 'look'), 'done', 'more'],
    })
    await agent.prompt('go').result
    agent.prune({ steps: ['n1', 'n3', 'n77'] })
    await until(({ type }) => type === 'prune.applied')
    assert.is(
      ofType('prune.applied')[0]?.reason,
      'prune refused: n1 is a user message; n77 is not on the current trunk',
    )
    agent.prune({ steps: ['n4'] })
    await until((event) => event.type === 'prune.applied' && !event.applied)
    await agent.prompt('and now?').result
    assert.not.match(textIn(script.requests.at(-1)!.messages), /refus/)
  })

  it('in the middle of a run waits for the end of the turn', async (context) => {
    const open = gate()
    const { agent, until, ofType, script } = await startAgent(context, {
      braking: { revert: true },
      tools: [seen, tool('slow', () => open.promise)],
      replies: [calls('a', 'look'), calls('b', 'slow'), 'done'],
    })
    const run = agent.prompt('go')
    await until((event) => event.type === 'tool.start' && event.name === 'slow')
    agent.prune({ steps: ['n2'], memo: 'it was looked at' })
    await quiet()
    assert.is(ofType('prune.applied').length, 0)
    open.resolve()
    await run.result
    assert.match(textIn(script.requests[2]!.messages), /it was looked at/)
  })

  it('needs something to hide, before anything happens', async (context) => {
    const { agent, types } = await startAgent(context, { braking: { revert: true } })
    for (const wrong of [{}, { memo: 'm' }, { steps: [] }, { tokens: 0 }, { steps: [3] }, { step: 'n3' }, undefined])
      assert.throws(() => agent.prune(wrong as object), withCode('INVALID_OPTION'), JSON.stringify(wrong))
    assert.throws(() => agent.pin(3 as unknown as string), withCode('INVALID_OPTION'))
    assert.equal(
      types().filter((type) => type.endsWith('.requested')),
      [],
    )
  })

  it('is known by its id, as a pin is: a client may send it again', async (context) => {
    const { agent, until } = await startAgent(context, { braking: { prune: true }, replies: ['done'] })
    await agent.prompt('go').result
    agent.dispatch({ type: 'agent.prune', agentId: agent.id, tokens: 1 }, { requestId: 'one' })
    agent.dispatch({ type: 'agent.pin', agentId: agent.id, step: 'n1' }, { requestId: 'two' })
    await until(({ type }) => type === 'pin.applied')
    assert.equal([await agent.wasAsked('one'), await agent.wasAsked('two')], [true, true])
  })

  it('is refused at once when maxQueue of them wait', async (context) => {
    const open = gate()
    const { agent, untilState, ofType } = await startAgent(context, {
      braking: { prune: true },
      maxQueue: 1,
      tools: [tool('slow', () => open.promise)],
      replies: [calls('a', 'slow'), 'done'],
    })
    const run = agent.prompt('go')
    await untilState('executing')
    agent.prune({ tokens: 1 })
    agent.pin('n1')
    assert.throws(() => agent.prune({ tokens: 1 }), withCode('QUEUE_FULL', 'prunes'))
    assert.throws(() => agent.pin('n1'), withCode('QUEUE_FULL', 'pins'))
    open.resolve()
    await run.result
    assert.equal([ofType('prune.applied').length, ofType('pin.applied').length], [1, 1])
  })
})
