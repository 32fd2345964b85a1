import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { conversationGraph } from '../../packages/charts/src/conversationGraph.ts'
import { loadSession } from '../../packages/sessions/src/loadSession.ts'
import { exportSession } from '../../packages/sessions/src/exportSession.ts'
import { forkSession } from '../../packages/sessions/src/forkSession.ts'
import { importSession } from '../../packages/sessions/src/importSession.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import type { Block } from '../../src/protocol/messages.ts'
import { calls, done, gate, quiet, startAgent, tool, withCode } from '../support/agentHarness.ts'
import { notesIn, textIn } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'

const port = tool('look', () => 'the port is 8123', { effects: 'none' })
const back = (step: string) => ['revert_to_state', { category: 'failure', step, summary: 'wrong way' }] as const

describe('a graft by the model', (it) => {
  it('brings back in the same turn what its revert has just abandoned', async (context) => {
    const { agent, script, ofType } = await startAgent(context, {
      braking: { revert: true, graft: true },
      tools: [port],
      replies: [calls('a', 'look'), calls('b', back('n1'), ['graft', { steps: ['n3', 'n4'] }], 'look'), 'done'],
    })
    await agent.prompt('go').result
    const [applied] = ofType('graft.applied')
    assert.equal(
      applied?.copies.map(({ from }) => from),
      [2, 3, 4, 7],
      'the calls that asked are left out',
    )
    assert.ok(applied!.seq > ofType('revert.applied')[0]!.seq)
    assert.equal([applied?.economics?.paysAfter, (applied?.economics?.freed ?? 0) < 0], [null, true])
    const { messages } = script.requests.at(-1)!
    assert.equal(
      messages.map(({ role }) => role),
      ['user', 'assistant', 'toolResult', 'user', 'assistant', 'toolResult'],
    )
    assert.equal(
      notesIn(messages).map((note) => /kind="(\w+)"/.exec(note)?.[1]),
      ['lesson', 'graft', 'graft'],
    )
    assert.is(textIn(messages).match(/the port is 8123/g)?.length, 2)
  })

  it('is offered only where the flag is set, and changes nothing else of a request', async (context) => {
    const requestOf = async (id: string, braking: object) => {
      const { agent, script } = await startAgent(context, { id, braking, tools: [port], replies: ['done'] })
      await agent.prompt('go').result
      return script.requests[0]!
    }
    const off = await requestOf('off', { revert: true })
    const on = await requestOf('on', { revert: true, graft: true })
    assert.not.ok(off.tools.some(({ name }) => name === 'graft'))
    const offered = on.tools.find(({ name }) => name === 'graft')!
    assert.equal(Object.keys((offered.inputSchema as { properties: object }).properties), ['steps'])
    assert.equal({ ...on, tools: on.tools.filter((each) => each !== offered) }, off)
    const alone = await requestOf('alone', { graft: true })
    assert.match(textIn(alone.messages), /\[n1\]$/)
  })

  it('that is refused is told why', async (context) => {
    const { agent, script } = await startAgent(context, {
      braking: { graft: true, recall: true },
      tools: [port],
      replies: [calls('a', 'look'), calls('b', ['graft', { steps: ['n3', 'n77'] }]), 'done'],
    })
    await agent.prompt('go').result
    assert.match(
      textIn(script.requests.at(-1)!.messages),
      /kind="refusal">graft refused: n3 is on the trunk already; n77 not found</,
    )
  })

  it('leaves thinking and its seal where they were', async (context) => {
    const thinking: Block = { type: 'thinking', text: 'hm', signature: 'seal' }
    const call: Block = { type: 'toolCall', callId: 'a0', name: 'look', input: {} }
    const { agent, script, until } = await startAgent(context, {
      braking: { revert: true },
      tools: [port],
      replies: [{ parts: [done([thinking, call], { stopReason: 'toolUse' })] }, 'done', 'more'],
    })
    await agent.prompt('go').result
    agent.revert('n1', { category: 'failure', summary: 'no' })
    agent.graft('n2')
    await until(({ type }) => type === 'graft.applied')
    await agent.prompt('which port?').result
    const reply = script.requests.at(-1)!.messages.find(({ role }) => role === 'assistant')
    assert.equal(
      reply?.content.map((block) => (block.type === 'toolCall' ? block.callId : block.type)),
      ['graft6'],
    )
  })
})

describe('a graft by a person', (it) => {
  const reverted = async (context: Parameters<typeof startAgent>[0], options: object = {}) => {
    const harness = await startAgent(context, {
      braking: { revert: true },
      tools: [port],
      replies: [calls('a', 'look'), 'done', 'it is 8123'],
      ...options,
    })
    await harness.agent.prompt('go').result
    harness.agent.revert('n1', { category: 'failure', summary: 'wrong way' })
    await harness.until(({ type }) => type === 'revert.applied')
    return harness
  }

  it('of an agent at rest holds at once, and through a fork, an export and a restart', async (context) => {
    const { agent, until, store, script, types } = await reverted(context)
    agent.graft('n3')
    await until(({ type }) => type === 'graft.applied')
    assert.equal(agent.state, 'idle')
    assert.is(types().filter((type) => type === 'run.start').length, 1)
    await agent.prompt('which port?').result
    assert.match(textIn(script.requests.at(-1)!.messages), /the port is 8123\n\[n6\]/)
    await forkSession(store, agent.id, 5, { id: 'fork' })
    const fork = await loadSession(store, 'fork')
    assert.equal(
      fork.conversation.trunk().map(({ id, copiedFrom }) => [id, copiedFrom]),
      [
        [1, undefined],
        [5, 2],
        [6, 3],
      ],
    )
    const other = memoryStore()
    await importSession(other, exportSession(store, agent.id))
    const session = await loadSession(other, agent.id)
    assert.equal(session.conversation.trunk(), agent.conversation.trunk())
    assert.equal(
      session.changes.map(({ type, applied }) => [type, applied]),
      [
        ['revert', true],
        ['graft', true],
      ],
    )
    assert.match(conversationGraph(session), /n5–n6 .*\(copy of n2\)/)
    const model = conversationGraph(session, { format: 'json' })
    assert.is(model.steps.find(({ id }) => id === 'n5')?.copiedFrom, 'n2')
    assert.match(conversationGraph(session, { format: 'mermaid' }), /s1 -\. copied \.-> s2/)
    const svg = conversationGraph(session, { format: 'svg' })
    assert.match(svg, /1 of them copies/)
    assert.match(svg, /<path class="graft"/)
  })

  it('in the middle of a run waits for the end of the turn', async (context) => {
    const open = gate()
    const { agent, until, ofType, script } = await reverted(context, {
      tools: [port, tool('slow', () => open.promise)],
      replies: [calls('a', 'look'), 'done', calls('b', 'slow'), 'it is 8123'],
    })
    const run = agent.prompt('and now?')
    await until((event) => event.type === 'tool.start' && event.name === 'slow')
    agent.graft(['n2'])
    agent.graft('n4')
    await quiet()
    assert.is(ofType('graft.applied').length, 0)
    open.resolve()
    await run.result
    assert.equal(
      ofType('graft.applied').map(({ applied, copies }) => [applied, copies.map(({ from }) => from)]),
      [
        [true, [2, 3]],
        [true, [4]],
      ],
    )
    assert.match(textIn(script.requests.at(-1)!.messages), /the port is 8123/)
  })

  it('is answered when the run is aborted', async (context) => {
    const open = gate()
    const { agent, until, ofType } = await reverted(context, {
      tools: [port, tool('slow', () => open.promise)],
      replies: [calls('a', 'look'), 'done', calls('b', 'slow')],
    })
    const run = agent.prompt('and now?')
    await until((event) => event.type === 'tool.start' && event.callId === 'b0')
    agent.graft('n2')
    agent.abort()
    await run.result
    assert.is(ofType('graft.applied')[0]?.reason, 'graft refused: the run was aborted')
    open.resolve()
  })

  it('of more than fits is refused with what there is room for', async (context) => {
    const { agent, until, ofType } = await reverted(context, {
      tools: [tool('look', () => 'word '.repeat(3_000), { effects: 'none' })],
      replies: [calls('a', 'look'), 'done', 'more'],
      compaction: { contextWindow: 6_000 },
    })
    agent.graft('n2')
    await until(({ type }) => type === 'graft.applied')
    const [answer] = ofType('graft.applied')
    assert.is(answer?.applied, true, 'it fits')
    agent.revert('n1', { category: 'failure', summary: 'again' })
    await until((event) => event.type === 'revert.applied' && event.seq > answer!.seq)
    await agent.prompt('word '.repeat(1_500)).result
    agent.graft('n2')
    await until((event) => event.type === 'graft.applied' && !event.applied)
    assert.match(
      ofType('graft.applied')[1]?.reason ?? '',
      /^graft refused: there is room for [\d,]+ tokens, and the copies have 4,\d+: compact or hide/,
    )
  })

  it('needs steps to name, and no more of them wait than there is room for', async (context) => {
    const open = gate()
    const { agent, until, ofType } = await reverted(context, {
      maxQueue: 1,
      tools: [port, tool('slow', () => open.promise)],
      replies: [calls('a', 'look'), 'done', calls('b', 'slow'), 'done'],
    })
    for (const wrong of [[], [3], undefined, null, { step: 'n2' }])
      assert.throws(() => agent.graft(wrong as unknown as string[]), withCode('INVALID_OPTION'), JSON.stringify(wrong))
    const run = agent.prompt('and now?')
    await until((event) => event.type === 'tool.start' && event.callId === 'b0')
    agent.dispatch({ type: 'agent.graft', agentId: agent.id, steps: ['n2'] }, { requestId: 'one' })
    assert.throws(() => agent.graft('n2'), withCode('QUEUE_FULL', 'grafts'))
    open.resolve()
    await run.result
    assert.is(await agent.wasAsked('one'), true)
    assert.is(ofType('graft.applied').length, 1)
  })

  it('that waited when the process died is decided once the agent is back', async (context) => {
    const { agent, until, runtime, records } = await reverted(context, { check: false })
    agent.graft('n2')
    await until(({ type }) => type === 'graft.applied')
    const log = await records()
    await runtime.close()
    const cut = memoryStore()
    const at = log.findIndex(({ type }) => type === 'graft.requested')
    const lease = await cut.open('a1')
    await cut.append('a1', log.slice(0, at + 1))
    await lease.release()
    const again = await createRuntime({ store: cut })
    context.cleanup(() => again.close())
    const model = scriptedModel([])
    const definition = defineAgent({ name: 'tester', model, tools: [port], braking: { revert: true } })
    const restored = await again.resume('a1', definition)
    const settled = new Promise<void>((resolve) => {
      if (restored.conversation.head === 6) return resolve()
      restored.subscribe(({ type }) => type === 'graft.applied' && resolve())
    })
    await settled
    assert.equal(
      restored.conversation.trunk().map(({ id, copiedFrom, message }) => [id, copiedFrom, message]),
      [
        [1, undefined, agent.conversation.node(1)!.message],
        [5, 2, agent.conversation.node(5)!.message],
        [6, 3, agent.conversation.node(6)!.message],
      ],
    )
  })
})
