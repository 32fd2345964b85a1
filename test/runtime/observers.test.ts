import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import type { AgentEvent } from '../../src/protocol/events.ts'
import { delta, done, gate, never, quiet, stalled, startAgent, tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const codes = (events: readonly AgentEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'error' ? [event.error.code] : []))

describe('a subscriber that throws', (it) => {
  it('is reported in the run and turn of the event, whenever that is delivered', async (context) => {
    const { agent, ofType } = await startAgent(context, { replies: ['all of it'] })
    agent.subscribe(({ type }) => {
      if (type === 'run.end') throw new Error('my bug')
    })
    const { runId } = await agent.prompt('go').result
    await quiet()
    assert.equal(
      ofType('error').map((event) => [event.runId, event.turnIndex]),
      [[runId, ofType('run.end')[0]!.turnIndex]],
    )
  })
})

describe('a subscriber', (it) => {
  for (const [what, bad] of [
    [
      'throws',
      () => {
        throw new Error('my bug')
      },
    ],
    [
      'throws a string',
      () => {
        // oxlint-disable-next-line typescript/only-throw-error -- listeners may throw anything
        throw 'my bug'
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('my bug')
      },
    ],
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- listeners may reject with anything
    ['rejects with undefined', () => Promise.reject(undefined)],
  ] as const) {
    it(`that ${what} harms nobody, and the others are told`, async (context) => {
      const { agent, ofType, events } = await startAgent(context, { replies: ['all of it'] })
      let times = 0
      agent.subscribe(() => {
        times += 1
        return bad()
      })
      const result = await agent.prompt('go').result
      await quiet()
      assert.equal([result.stopReason, result.text], ['stop', 'all of it'])
      // Told of once: a listener that always throws would flood everyone else.
      assert.is(ofType('error').length, 1)
      assert.is(times, events.length)
      assert.ok(codes(events).every((code) => code === 'SUBSCRIBER_FAILED'))
      if (what !== 'rejects with undefined')
        assert.match(ofType('error')[0]!.error.message, /my bug.*Catch errors inside/)
    })
  }

  it('that throws before the others still lets them see every event, in order', async (context) => {
    const { agent, runtime } = await startAgent(context, { replies: ['one two'] })
    assert.is(runtime.agent('a1'), agent)
    const seen: number[] = []
    agent.subscribe((event) => {
      if (event.type !== 'error') throw new Error('first')
    })
    agent.subscribe((event) => {
      if (event.type !== 'error' && event.type !== 'state.changed') seen.push(event.seq)
    })
    await agent.prompt('go').result
    assert.equal(
      seen,
      seen.toSorted((a, b) => a - b),
    )
  })

  it('that never comes back is not waited for', async (context) => {
    const { agent } = await startAgent(context, { replies: ['fine'] })
    agent.subscribe(() => never)
    assert.is((await agent.prompt('go').result).text, 'fine')
  })

  it('that says more inside a delta does not disorder what the others see', async (context) => {
    const open = gate()
    const { agent, ofType } = await startAgent(context, { replies: [stalled(['one '], open.promise), 'two'] })
    // Before the collector of the harness would be best; a second one sees the same from behind.
    agent.subscribe((event) => {
      if (event.type === 'reply.delta' && event.text === 'one ') agent.steer('from inside')
    })
    const seen: number[] = []
    agent.subscribe((event) => void seen.push(event.seq))
    const run = agent.prompt('go')
    open.resolve()
    assert.is((await run.result).text, 'two')
    assert.equal(
      seen,
      seen.toSorted((a, b) => a - b),
    )
    assert.is(ofType('message.added').length, 2)
  })

  it('may prompt inside the end of a run', async (context) => {
    const { agent, until, ofType } = await startAgent(context, { replies: ['one', 'two', 'three'] })
    agent.subscribe((event) => {
      if (event.type === 'run.end' && event.runId !== 'a1/r2') agent.prompt('and on')
    })
    agent.prompt('go')
    await until((event) => event.type === 'run.end' && event.runId === 'a1/r2')
    assert.equal(ofType('reply.end').length, 3)
  })

  it('may abort inside any event', async (context) => {
    const types = [
      'run.start',
      'message.added',
      'turn.start',
      'turn.request',
      'reply.start',
      'reply.delta',
      'reply.end',
      'tool.start',
      'tool.progress',
      'tool.end',
      'turn.end',
      'queue.changed',
      'state.changed',
    ] as const
    for (const type of types) {
      const work = tool('work', (_, { report }) => {
        report(1)
        return 'ok'
      })
      const call = { type: 'toolCall', callId: 'c0', name: 'work', input: {} } as const
      const { agent, ofType } = await startAgent(context, {
        id: `on-${type}`,
        tools: [work],
        replies: [
          { parts: [delta('a'), done([{ type: 'text', text: 'a' }, call], { stopReason: 'toolUse' })] },
          'b',
          'c',
        ],
      })
      let isFirst = true
      const unsubscribe = agent.subscribe((event) => {
        if (event.type !== type || !isFirst) return
        isFirst = false
        agent.abort()
      })
      const run = agent.prompt('go')
      if (type === 'queue.changed') agent.followUp('later')
      assert.is((await run.result).stopReason, 'aborted', type)
      assert.is(ofType('run.end').length, 1, type)
      unsubscribe()
      assert.is((await agent.prompt('again').result).stopReason === 'error', false, type)
    }
  })

  it('may stop the agent inside any event, and the log still ends properly', async (context) => {
    for (const type of [
      'run.start',
      'turn.request',
      'reply.start',
      'reply.delta',
      'reply.end',
      'run.end',
      'state.changed',
    ] as const) {
      const { agent, until, records } = await startAgent(context, { id: `on-${type}`, replies: ['one two'] })
      const stops: Promise<void>[] = []
      agent.subscribe((event) => {
        if (event.type === type && stops.length === 0) stops.push(agent.stop())
      })
      const result = await agent.prompt('go').result
      await until((event) => event.type === 'agent.stopped')
      await Promise.all(stops)
      assert.ok(
        result.stopReason === 'aborted' || type === 'run.end' || type === 'reply.end',
        `${type}: ${result.stopReason}`,
      )
      assert.is((await records()).at(-1)?.type, 'agent.stopped', type)
    }
  })

  it('may stop the agent as a streaming reply begins, and the log still ends properly', async (context) => {
    const { agent, records } = await startAgent(context, { replies: ['one two'] })
    const stops: Promise<void>[] = []
    agent.subscribe((event) => {
      if (event.type === 'state.changed' && event.state === 'replying.streaming') stops.push(agent.stop())
    })
    await agent.prompt('go').result
    await Promise.all(stops)
    assert.is((await records()).at(-1)?.type, 'agent.stopped')
  })

  it('may unsubscribe itself and others inside an event', async (context) => {
    const { agent, events } = await startAgent(context, { replies: ['one two three'] })
    let [mine, others] = [0, 0]
    const stopOther = agent.subscribe(() => (others += 1))
    const stopMine = agent.subscribe((event) => {
      mine += 1
      if (event.type !== 'reply.start') return
      stopMine()
      stopMine()
      stopOther()
    })
    await agent.prompt('go').result
    const upTo = events.findIndex(({ type }) => type === 'reply.start') + 1
    assert.equal([mine, others], [upTo, upTo])
  })

  it('that another one ended hears nothing more, not even of the event under way', async (context) => {
    const { agent } = await startAgent(context, { replies: ['one'] })
    let stopOther = (): void => {}
    let heard = 0
    agent.subscribe(() => stopOther())
    stopOther = agent.subscribe(() => (heard += 1))
    await agent.prompt('go').result
    assert.is(heard, 0)
  })

  it('given twice is told twice, and each is ended by its own function', async (context) => {
    const { agent } = await startAgent(context, { replies: ['a', 'b'] })
    let times = 0
    const listener = (event: AgentEvent): void => {
      if (event.type === 'run.end') times += 1
    }
    const end = agent.subscribe(listener)
    agent.subscribe(listener)
    await agent.prompt('1').result
    assert.is(times, 2)
    end()
    await agent.prompt('2').result
    assert.is(times, 3)
  })

  it('that changes what it is given does not change the log', async (context) => {
    const { agent } = await startAgent(context, { replies: ['untouched'] })
    agent.subscribe((event) => {
      if (event.type !== 'reply.end') return
      try {
        ;(event.message.content as unknown as { text: string }[])[0]!.text = 'tampered'
      } catch {
        // Frozen is as good.
      }
    })
    await agent.prompt('go').result
    assert.equal(agent.conversation.trunk()[1]!.message.content, [{ type: 'text', text: 'untouched' }])
  })
})

describe('agent.events()', (it) => {
  it('sees everything from now on and ends when the agent stops', async (context) => {
    const { agent, events } = await startAgent(context, { replies: ['a', 'b'] })
    const seen: AgentEvent[] = []
    const reading = (async () => {
      for await (const event of agent.events()) seen.push(event)
    })()
    await agent.prompt('1').result
    await agent.prompt('2').result
    await agent.stop()
    await reading
    assert.equal(seen, events)
    const last = seen.at(-1)!
    assert.ok(last.type === 'state.changed' && last.state === 'stopped')
  })

  it('ends at once when the agent has stopped already', async (context) => {
    const { agent } = await startAgent(context)
    await agent.stop()
    for await (const event of agent.events()) assert.unreachable(event.type)
  })

  it('ends when the loop is left', async (context) => {
    const { agent } = await startAgent(context, { replies: ['a', 'b'] })
    const all = agent.events()
    const first = agent.prompt('1')
    for await (const event of all) if (event.type === 'run.start') break
    await first.result
    await agent.prompt('2').result
    assert.equal(await all.next(), { done: true, value: undefined })
  })
})

describe('two agents', (it) => {
  it('of one runtime do not see each other’s events', async (context) => {
    const { agent, runtime, events } = await startAgent(context, { replies: ['a'] })
    const other = await runtime.spawn(defineAgent({ name: 'other', model: scriptedModel(['b']) }), { id: 'b2' })
    const seen: AgentEvent[] = []
    other.subscribe((event) => void seen.push(event))
    const [one, two] = await Promise.all([agent.prompt('1').result, other.prompt('2').result])
    assert.equal([one.text, two.text], ['a', 'b'])
    assert.equal([...new Set(events.map(({ agentId }) => agentId))], ['a1'])
    assert.equal([...new Set(seen.map(({ agentId }) => agentId))], ['b2'])
  })
})
