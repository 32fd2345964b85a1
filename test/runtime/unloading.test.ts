import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import type { Conversation } from '../../src/conversation/tree/conversation.ts'
import type { Clock } from '../../src/protocol/ports/clock.ts'
import type { AgentEvent } from '../../src/protocol/events.ts'
import type { ModelRequest } from '../../src/protocol/ports/model.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { calls, gate, never, quiet, stalled, tool, withCode } from '../support/agentHarness.ts'
import { checkJourney } from '../support/journeyRules.ts'
import { assert, describe } from '../support/suite.ts'
import { echo, idleAgents, idleMs } from './idleAgents.ts'
import { heldCalls } from '../support/heldCalls.ts'

/** A clock whose timers `fire` in the middle of whatever is done. */
function hastyClock(): { readonly clock: Clock; fire(ms: number): void } {
  let now = 0
  const timers = new Set<() => void>()
  const clock: Clock = {
    now: () => now,
    after: (_ms, callback) => {
      timers.add(callback)
      return () => timers.delete(callback)
    },
  }
  const fire = (ms: number): void => {
    now += ms
    const due = [...timers]
    timers.clear()
    for (const callback of due) callback()
  }
  return { clock, fire }
}

describe('an idle agent', (it) => {
  it('is unloaded after idleUnloadMs, its log let go, and its next prompt goes on with all that was said', async (context) => {
    const { store, clock, spawn } = await idleAgents(context)
    const agent = await spawn('a1')
    assert.is((await agent.prompt('one').result).text, '1: one')
    await clock.advance(idleMs - 1)
    assert.is(agent.isLoaded, true)
    await clock.advance(1)
    await quiet()
    assert.is(agent.isLoaded, false)
    assert.equal([...store.leased], [])
    const result = await agent.prompt('two').result
    assert.equal([result.text, result.stopReason, result.runId], ['2: two', 'stop', 'a1/r1'])
    assert.is(agent.isLoaded, true)
    assert.equal([...store.leased], ['a1'])
  })

  it('that was never prompted is unloaded too', async (context) => {
    const { clock, spawn } = await idleAgents(context)
    const agent = await spawn('a1')
    await clock.advance(idleMs)
    assert.is(agent.isLoaded, false)
    assert.is((await agent.prompt('one').result).text, '1: one')
  })

  it('has its time begin anew with every run', async (context) => {
    const { clock, spawn } = await idleAgents(context)
    const agent = await spawn('a1')
    for (let n = 0; n < 3; n += 1) {
      await clock.advance(idleMs - 1)
      await agent.prompt('again').result
    }
    assert.is(agent.isLoaded, true)
    await clock.advance(idleMs)
    assert.is(agent.isLoaded, false)
  })

  it('is the same to the application while it is unloaded', async (context) => {
    const { runtime, unloaded, records } = await idleAgents(context)
    const agent = await unloaded('a1')
    assert.is(runtime.agent('a1'), agent)
    assert.equal(runtime.agents(), [agent])
    assert.is(agent.id, 'a1')
    assert.is(agent.state, 'idle')
    assert.is(agent.pause, null)
    assert.is(agent.definition, 'tester')
    assert.is(agent.repairedBytes, 0)
    assert.is(agent.room, 16)
    assert.is(agent.lastSeq, (await records('a1')).length)
    assert.is(agent.parent, undefined)
    assert.equal([agent.path, agent.children(), agent.approvals(), heldCalls(agent)], [[], [], [], []])
    assert.equal(agent.tree(), { id: 'a1', definition: 'tester', state: 'idle', children: [] })
    assert.is(agent.isLoaded, false)
  })

  it('is spoken of as one that is there when its id is wanted again', async (context) => {
    const { runtime, unloaded } = await idleAgents(context)
    await unloaded('a1')
    const definition = defineAgent({ name: 'tester', model: echo })
    await assert.rejects(runtime.spawn(definition, { id: 'a1' }), withCode('AGENT_EXISTS', 'a1'))
    await assert.rejects(runtime.resume('a1', definition), withCode('AGENT_EXISTS', 'a1'))
  })

  it('stays for as long as it is listened to', async (context) => {
    const { clock, spawn } = await idleAgents(context)
    const agent = await spawn('a1')
    const listen: (() => () => unknown)[] = [
      () => agent.subscribe(() => {}),
      () => agent.subscribe(() => {}, { descendants: true }),
      () => agent.inspect(() => {}),
      () => {
        const iterator = agent.events()
        return () => iterator.return?.()
      },
    ]
    for (const begin of listen) {
      await agent.wake()
      const leave = begin()
      await clock.advance(idleMs * 2)
      assert.is(agent.isLoaded, true)
      await leave()
      await clock.advance(idleMs - 1)
      assert.is(agent.isLoaded, true)
      await clock.advance(1)
      assert.is(agent.isLoaded, false)
    }
  })

  it('stays for as long as it has a child, which is not unloaded itself', async (context) => {
    const { clock, spawn } = await idleAgents(context)
    const agent = await spawn('a1')
    const child = await agent.spawn(defineAgent({ name: 'helper', model: echo }))
    await child.prompt('work').result
    await clock.advance(idleMs * 3)
    assert.equal([agent.isLoaded, child.isLoaded], [true, true])
    await child.close()
    await quiet()
    await clock.advance(idleMs)
    assert.is(agent.isLoaded, false)
  })

  it('stays until its log is written', async (context) => {
    const { store, clock, spawn } = await idleAgents(context)
    const disk = gate()
    store.gates.append = disk.promise
    const agent = await spawn('a1')
    await clock.advance(idleMs * 2)
    assert.is(agent.isLoaded, true)
    store.gates.append = undefined
    disk.resolve()
    await quiet()
    await clock.advance(idleMs)
    assert.is(agent.isLoaded, false)
  })

  for (const what of ['a prompt', 'a child'] as const) {
    it(`is one only when nothing is on its way to it: ${what} asked for in the middle of a step`, async (context) => {
      const { clock, fire } = hastyClock()
      const { store, spawn } = await idleAgents(context, { clock })
      store.gates.append = Promise.reject(new Error('the disk is full'))
      const agent = await spawn('a1')
      await quiet()
      assert.is(agent.pause?.type, 'store')
      store.gates.append = undefined
      const asked = new Promise<unknown>((resolve) => {
        const leave = agent.subscribe((event) => {
          if (event.type !== 'state.changed' || event.state !== 'idle') return
          leave()
          const helper = defineAgent({ name: 'helper', model: echo })
          resolve(what === 'a prompt' ? agent.prompt('go').result : agent.spawn(helper))
          fire(idleMs)
        })
      })
      await agent.resume().result
      const outcome = (await asked) as { readonly text?: string; readonly id?: string }
      assert.is(agent.isLoaded, true)
      assert.is(outcome.text ?? outcome.id, what === 'a prompt' ? '1: go' : 'a1.s1')
    })
  }

  it('is one only at rest: not while it works, waits for a person, or is paused', async (context) => {
    const { clock, spawn } = await idleAgents(context)
    const risky = tool('risky', () => 'x', { needsApproval: true })
    const working = await spawn('a1', { model: scriptedModel([stalled(['x'], never)]) })
    const asking = await spawn('a2', { model: scriptedModel([calls('c', 'risky')]), tools: [risky] })
    const limited = await spawn('a3', {
      model: scriptedModel([calls('c', 'work')]),
      tools: [tool('work', () => 'x')],
      limits: { turns: 1 },
    })
    for (const agent of [working, asking, limited]) agent.prompt('go')
    await quiet()
    await clock.advance(idleMs * 3)
    assert.equal([working.state, asking.state, limited.state], ['replying.streaming', 'paused', 'paused'])
    assert.equal([working.isLoaded, asking.isLoaded, limited.isLoaded], [true, true, true])
  })

  it('is unloaded by one timer for all, which is gone when nobody is left', async (context) => {
    const { clock, spawn, runtime } = await idleAgents(context)
    const agents = []
    for (let n = 0; n < 50; n += 1) agents.push(await spawn(`a${n}`))
    assert.is(clock.pending, 1)
    await clock.advance(idleMs / 2)
    await agents[7]!.prompt('one').result
    assert.is(clock.pending, 1)
    await clock.advance(idleMs / 2)
    assert.equal(
      agents.filter(({ isLoaded }) => isLoaded).map(({ id }) => id),
      ['a7'],
    )
    assert.is(clock.pending, 1)
    await clock.advance(idleMs / 2)
    assert.is(agents[7]!.isLoaded, false)
    assert.is(clock.pending, 0)
    await agents[3]!.wake()
    assert.is(clock.pending, 1)
    await runtime.close()
    assert.is(clock.pending, 0)
  })

  it('that crashed leaves no timer when its runtime is closed', async (context) => {
    const { clock, spawn, runtime } = await idleAgents(context)
    const tokenCounter = {
      text: () => 1,
      message: (): number => {
        throw new Error('a defect')
      },
    }
    const agent = await spawn('a1')
    const broken = await spawn('a2', { tokenCounter })
    assert.is((await broken.prompt('go').result).stopReason, 'error')
    await runtime.close()
    assert.is(clock.pending, 0)
    assert.is(agent.state, 'stopped')
  })

  it('is never unloaded without idleUnloadMs', async (context) => {
    const { clock, runtime } = await idleAgents(context)
    const other = await createRuntime({ clock })
    context.cleanup(() => other.close())
    const agent = await other.spawn(defineAgent({ name: 'tester', model: echo }))
    await clock.advance(idleMs * 100)
    assert.is(agent.isLoaded, true)
    await runtime.close()
    for (const idleUnloadMs of [0, -1, Number.NaN, Infinity, '60']) {
      await assert.rejects(
        createRuntime({ idleUnloadMs: idleUnloadMs as number }),
        withCode('INVALID_OPTION', 'idleUnloadMs'),
      )
    }
  })

  it('leaves nothing of itself in memory but its place', { timeoutMs: 10_000 }, async (context) => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const { unloaded, spawn, clock } = await idleAgents(context)
    const agent = await spawn('a1')
    await agent.prompt('one').result
    const conversation = new WeakRef(agent.conversation)
    await clock.advance(idleMs)
    await unloaded('a2')
    for (let n = 0; n < 20 && conversation.deref() !== undefined; n += 1) {
      await quiet()
      collect()
    }
    assert.is(conversation.deref(), undefined)
    assert.is(agent.isLoaded, false)
  })

  it('ends its trace when it is unloaded, and says nothing of a stop', async (context) => {
    const seen: string[] = []
    const { clock, unloaded } = await idleAgents(context, {
      tracer: {
        event: (event) => seen.push(event.type === 'state.changed' ? event.state : event.type),
        within: (_effect, _agent, run) => run(),
        requested: (_requestId, { agentId, name, model }) => seen.push(`requested ${[agentId, name, model].join(' ')}`),
        ended: ({ agentId }) => seen.push(`ended ${agentId}`),
      },
    })
    const agent = await unloaded('a1')
    assert.equal(seen.slice(-3), ['run.end', 'idle', 'ended a1'])
    const before = seen.length
    const run = agent.prompt('two')
    // At once: what surrounds the command is the run's parent.
    assert.equal(seen.slice(before), [`requested a1 tester ${echo.id}`])
    await run.result
    await clock.advance(idleMs)
    assert.equal(seen.slice(-3), ['run.end', 'idle', 'ended a1'])
    assert.is(seen.filter((what) => what === 'agent.created').length, 1)
  })

  it('asks the same of its model and writes the same log as one that stays loaded', async (context) => {
    const live = async (idleUnloadMs: number) => {
      const requests: ModelRequest[] = []
      const script = scriptedModel([
        calls('c', 'look'),
        'found',
        'second answer',
        { toolCalls: [{ name: 'revert', input: { step: 'n2', category: 'failure', summary: 'wrong way' } }] },
        'another way',
        'last',
      ])
      const { store, clock, spawn, records, runtime } = await idleAgents(context, { idleUnloadMs })
      const agent = await spawn('a1', {
        model: {
          id: script.id,
          stream: (request, options) => {
            requests.push(structuredClone({ ...request, settings: {} }))
            return script.stream(request, options)
          },
        },
        tools: [tool('look', () => 'it is there')],
        braking: { revert: true },
      })
      for (const text of ['find it', 'and then', 'try', 'go on']) {
        await agent.prompt(text).result
        await clock.advance(idleMs)
        await quiet()
      }
      const loads = store.opened.length
      await agent.stop()
      const log = await records('a1')
      const faults = checkJourney({ events: [], conversation: agent.conversation as Conversation, records: log })
      await runtime.close()
      return { requests, log, loads, faults }
    }
    const [kept, unloaded] = [await live(Number.MAX_SAFE_INTEGER), await live(idleMs)]
    assert.equal([kept.loads, unloaded.loads], [1, 4])
    assert.equal(unloaded.requests, kept.requests)
    assert.equal(unloaded.log, kept.log)
    assert.equal(unloaded.faults, kept.faults)
  })

  it('whose log cannot be let go says so to whoever listens next, and cannot be woken', async (context) => {
    const { store, clock, spawn } = await idleAgents(context)
    const agent = await spawn('a1')
    const disk = gate()
    store.gates.release = disk.promise
    await clock.advance(idleMs)
    const events: AgentEvent[] = []
    agent.subscribe((event) => events.push(event))
    disk.reject(new Error('the disk is gone'))
    await quiet()
    store.gates.release = undefined
    assert.equal(
      events.map((event) => event.type === 'error' && event.error.message.split('.')[0]),
      ['the disk is gone'],
    )
    const { stopReason, error } = await agent.prompt('two').result
    assert.equal([stopReason, error?.code], ['error', 'STORE_LOCKED'])
  })
})
