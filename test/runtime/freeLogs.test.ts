import { createRuntime, type Runtime } from '../../packages/bridge/src/createRuntime.ts'
import { defineAgent, policyModel, type AgentDefinition, type Store } from '../../src/index.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { withCode } from '../support/agentHarness.ts'
import { asks, caller, until } from '../support/lives.ts'
import { sharedStore } from '../support/sharedStore.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const later = async (turns: number): Promise<void> => {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** A store that takes its time to let go of a log, and says which are out. */
function slowToRelease(): { readonly store: Store; readonly out: Set<string> } {
  const inner = sharedStore(memoryStore())
  const out = new Set<string>()
  const store: Store = {
    ...inner,
    open: async (agentId, options) => {
      const lease = await inner.open(agentId, options)
      out.add(agentId)
      return {
        agentId,
        epoch: lease.epoch!,
        lost: lease.lost!,
        repairedBytes: 0,
        get lastSeq() {
          return lease.lastSeq
        },
        async release() {
          // Of sub-agents last, whoever goes first.
          await later(agentId.includes('.') ? 30 : 5)
          await lease.release()
          out.delete(agentId)
        },
      }
    },
  }
  return { store, out }
}

const talker = defineAgent({ name: 'talker', model: policyModel(() => 'Hello') })
const asker = defineAgent({ name: 'asker', model: caller(['pay']), tools: [asks('pay')] })
const boss = defineAgent({
  name: 'boss',
  model: policyModel(({ messages }) =>
    messages.at(-1)!.role === 'toolResult' ? 'done' : { toolCalls: [{ name: 'asker', input: { task: 'x' } }] },
  ),
  agents: [asker],
})

async function open({ cleanup }: Pick<CaseContext, 'cleanup'>, store: Store, more: object = {}): Promise<Runtime> {
  const runtime = await createRuntime({ store, ...more })
  cleanup(() => runtime.close())
  return runtime
}

/** A store in which agent `a` has said something, and nobody has its log. */
async function left(test: Pick<CaseContext, 'cleanup'>, definition: AgentDefinition = talker) {
  const slow = slowToRelease()
  const before = await open(test, slow.store)
  const agent = await before.spawn(definition, { id: 'a', metadata: { user: 'anna' } })
  await agent.prompt('Hello').result
  await before.close()
  return { ...slow, runtime: await open(test, slow.store) }
}

describe('a log that could not be gone on with', (it) => {
  const refusals: {
    readonly [what: string]: readonly [code: string, refused: (runtime: Runtime) => Promise<unknown>]
  } = {
    'that there is already': ['AGENT_EXISTS', (runtime) => runtime.spawn(talker, { id: 'a' })],
    'of another definition': ['INVALID_DEFINITION', (runtime) => runtime.resume('a', asker)],
    'of somebody else': ['AGENT_EXISTS', (runtime) => runtime.open('a', talker, { metadata: { user: 'ben' } })],
    'that is not there': ['AGENT_NOT_FOUND', (runtime) => runtime.resume('b', talker)],
  }
  for (const [what, [code, refused]] of Object.entries(refusals))
    it(`is free when the refusal comes: one ${what}`, async (test) => {
      const { runtime, out } = await left(test)
      await assert.rejects(refused(runtime), withCode(code))
      assert.equal([...out], [])
      assert.ok(await runtime.resume('a', talker))
    })

  it('is free when the refusal comes: one that cannot be read, or whose agent was stopped for good', async (test) => {
    const { runtime, store, out } = await left(test)
    const broken = await open(test, {
      ...store,
      read: () => {
        throw new Error('The disk is broken')
      },
    })
    await assert.rejects(broken.resume('a', talker), /The disk is broken/)
    assert.equal([...out], [])
    await (await runtime.resume('a', talker)).stop()
    assert.equal([...out], [])
    await assert.rejects(runtime.resume('a', talker), withCode('AGENT_STOPPED'))
    assert.equal([...out], [])
  })

  it('is free when the runtime that was opening it is closed', async (test) => {
    const { runtime, out } = await left(test)
    const opening = assert.rejects(runtime.resume('a', talker), withCode('RUNTIME_CLOSED'))
    await runtime.close()
    await opening
    assert.equal([...out], [])
  })
})

describe('the log of an agent that goes', (it) => {
  const ways: { readonly [what: string]: (runtime: Runtime) => Promise<unknown> } = {
    'is closed': async (runtime) => runtime.agent('a')!.close(),
    'is stopped': async (runtime) => runtime.agent('a')!.stop(),
    'is let go of': async (runtime) => runtime.detach('a'),
    'goes with its runtime': async (runtime) => runtime.close(),
    'is let go of with its runtime': async (runtime) => runtime.close({ detach: true }),
  }
  for (const [what, go] of Object.entries(ways))
    for (const [kind, definition, waits] of [
      ['at rest', talker, undefined],
      ['at work', asker, 'a'],
      ['that waits for a sub-agent', boss, 'a.1'],
    ] as const)
      it(`is free, with those below it, once it ${what}: one ${kind}`, async (test) => {
        const { store, out } = slowToRelease()
        const runtime = await open(test, store)
        const agent = await runtime.spawn(definition, { id: 'a' })
        const run = agent.prompt('go')
        if (waits === undefined) await run.result
        else await until(agent, ({ type, agentId }) => type === 'approval.requested' && agentId === waits)
        void run.result.catch(() => {})
        assert.is(out.has(waits ?? 'a'), true)
        await go(runtime)
        assert.equal([...out], [])
      })

  it('is waited for by whoever opens it meanwhile, and then has all of it', async (test) => {
    const { store } = slowToRelease()
    const runtime = await open(test, store)
    const agent = await runtime.spawn(talker, { id: 'a' })
    await agent.prompt('Hello').result
    const closing = agent.close()
    const again = await runtime.open('a', talker)
    await closing
    assert.is((await again.prompt('Again').result).text, 'Hello')
  })
})
