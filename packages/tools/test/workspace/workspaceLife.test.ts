import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { calls, quiet, startAgent } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { memoryWorkspace } from '../../src/workspace/memoryWorkspace.ts'
import type { Workspace } from '../../src/workspace/port.ts'
import { workspaceTools } from '../../src/workspace/workspaceTools.ts'

/** Workspaces in memory that count their lives. */
function counted() {
  const made: { readonly workspace: Workspace; closed: number; written: string[] }[] = []
  const make = (): Workspace => {
    const memory = memoryWorkspace({ 'a.txt': 'first' })
    const one = {
      closed: 0,
      written: [] as string[],
      workspace: {
        ...memory,
        write: async (path, bytes, options) => {
          one.written.push(path)
          await memory.write(path, bytes, options)
        },
        anew: make,
        close: async () => {
          one.closed += 1
          await memory.close()
        },
      } satisfies Workspace,
    }
    made.push(one)
    return one.workspace
  }
  return { make, made }
}

class Named implements Workspace {
  readonly description = 'It is a class.'
  readonly root = '/named'
  readonly #inner = memoryWorkspace({ 'a.txt': 'of a class' })
  read(...given: Parameters<Workspace['read']>) {
    return this.#inner.read(...given)
  }
  write(...given: Parameters<Workspace['write']>) {
    return this.#inner.write(...given)
  }
  remove(...given: Parameters<Workspace['remove']>) {
    return this.#inner.remove(...given)
  }
  list(...given: Parameters<Workspace['list']>) {
    return this.#inner.list(...given)
  }
  exec(...given: Parameters<Workspace['exec']>) {
    return this.#inner.exec(...given)
  }
  close() {
    return this.#inner.close()
  }
}

const writes = (id: string, path: string) => calls(id, ['write_file', { path, content: 'x' }])

describe('the life of a workspace', (it) => {
  it('is shared by all agents with its tools, and ends with the last runtime', async () => {
    const { make, made } = counted()
    const tools = workspaceTools(make())
    const agent = (path: string) => defineAgent({ name: 'a', model: scriptedModel([writes('c', path), 'done']), tools })
    const [one, two] = [await createRuntime(), await createRuntime()]
    await (await one.spawn(agent('one'))).prompt('go').result
    await (await one.spawn(agent('two'))).prompt('go').result
    await (await two.spawn(agent('three'))).prompt('go').result
    assert.equal(
      made.map(({ written }) => written),
      [['one', 'two', 'three']],
    )
    await one.close()
    assert.is(made[0]!.closed, 0)
    await two.close()
    assert.is(made[0]!.closed, 1)
    // A later runtime has another one.
    const three = await createRuntime()
    await (await three.spawn(agent('four'))).prompt('go').result
    await three.close()
    assert.equal(
      made.map(({ written, closed }) => [written, closed]),
      [
        [['one', 'two', 'three'], 1],
        [['four'], 1],
        [[], 0],
      ],
    )
  })

  it('is one for each agent where they have their own, and ends with the agent', async () => {
    const { make, made } = counted()
    const tools = workspaceTools(make(), { workspace: 'own' })
    const child = defineAgent({ name: 'child', model: scriptedModel([writes('c', 'child.txt'), 'done']), tools })
    const parent = defineAgent({
      name: 'parent',
      model: scriptedModel([writes('p', 'parent.txt'), calls('q', ['child', { task: 'go' }]), 'done', 'again']),
      tools,
      agents: [child],
    })
    const runtime = await createRuntime()
    const agent = await runtime.spawn(parent)
    await agent.prompt('go').result
    const used = made.filter(({ written }) => written.length > 0)
    assert.equal(
      used.map(({ written }) => written),
      [['parent.txt'], ['child.txt']],
    )
    assert.is(used[0]!.closed, 0)
    await agent.close()
    assert.equal(
      used.map(({ closed }) => closed),
      [1, 1],
    )
    await runtime.close()
    assert.equal(
      used.map(({ closed }) => closed),
      [1, 1],
    )
  })

  it('is given up when it fails with none of its codes, and another takes its place', async (context) => {
    const { make, made } = counted()
    const first = make()
    const broken: Workspace = { ...first, read: () => Promise.reject(new Error('the engine is gone')) }
    const harness = await startAgent(context, {
      tools: workspaceTools(broken),
      replies: [
        calls('c', ['read_file', { path: 'a.txt' }]),
        calls('d', ['read_file', { path: 'a.txt' }]),
        calls('e', ['read_file', { path: 'none' }]),
        'done',
      ],
    })
    await harness.agent.prompt('go').result
    const said = harness.ofType('tool.end').map(({ message }) => textOf(message.content))
    assert.match(said[0]!, /^The workspace failed: the engine is gone\. Try again/)
    assert.is(said[1], 'first')
    // An error of its own leaves it as it is.
    assert.match(said[2]!, /"none" does not exist/)
    assert.equal(
      made.map(({ closed }) => closed),
      [1, 0],
    )
  })

  it('may be an object of a class', async (context) => {
    const harness = await startAgent(context, {
      tools: workspaceTools(new Named()),
      replies: [calls('c', ['read_file', { path: 'a.txt' }]), calls('d', ['list_files', {}]), 'done'],
    })
    await harness.agent.prompt('go').result
    assert.equal(
      harness.ofType('tool.end').map(({ message }) => textOf(message.content)),
      ['of a class', 'a.txt'],
    )
  })

  it('stays open while its agent is only unloaded', async ({ cleanup }) => {
    const { make, made } = counted()
    const clock = simulatedClock()
    const runtime = await createRuntime({ clock, idleUnloadMs: 10 })
    cleanup(() => runtime.close())
    const model = scriptedModel([
      writes('c', 'kept.txt'),
      'done',
      calls('d', ['read_file', { path: 'kept.txt' }]),
      'done',
    ])
    const agent = await runtime.spawn(
      defineAgent({ name: 'a', model, tools: workspaceTools(make(), { workspace: 'own' }) }),
    )
    await agent.prompt('go').result
    await clock.advance(11)
    for (let turn = 0; agent.isLoaded && turn < 50; turn += 1) await quiet()
    assert.is(agent.isLoaded, false)
    const used = made.find(({ written }) => written.length > 0)!
    assert.is(used.closed, 0)
    await agent.prompt('again').result
    const results = agent.conversation.trunk().filter(({ message }) => message.role === 'toolResult')
    assert.is(textOf(results.at(-1)!.message.content), 'x')
    await agent.close()
    assert.is(used.closed, 1)
  })

  it('is not made before a call needs it', async (context) => {
    const { make, made } = counted()
    const tools = workspaceTools(make(), { workspace: 'own' })
    const harness = await startAgent(context, { tools, replies: ['done'] })
    await harness.agent.prompt('go').result
    assert.is(made.length, 1)
  })
})
