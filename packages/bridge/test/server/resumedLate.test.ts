import { connect } from '../../src/client/connect.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { gate, tool } from '../../../../test/support/agentHarness.ts'
import { storeFolder } from '../../../stores/test/storeFolder.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'

const patient = { timeoutMs: 20_000 }

/** A client that waits for a run in the middle of which its server ends; and what starts the next server on the same port. */
async function cutOff(context: CaseContext) {
  const began = gate()
  const look = tool('look', () => began.resolve(), { effects: 'none' })
  const hang = tool('hang', () => (lives.count === 0 ? new Promise(() => {}) : 'went on'), { effects: 'none' })
  const lives = { count: 0 }
  const definition = defineAgent({
    name: 'looker',
    tools: [look, hang],
    model: policyModel(({ messages }) => {
      const results = messages.filter(({ role }) => role === 'toolResult').length
      return results < 2 ? { toolCalls: [{ name: results === 0 ? 'look' : 'hang', input: {} }] } : 'done'
    }),
  })
  const folder = await storeFolder(context)
  const first = await createRuntime({ store: folder.store() })
  const { port, url } = await first.serve({ definitions: [definition], limits: { drainMs: 50 } })
  const { id } = await first.spawn(definition, { id: 'a1' })
  const client = connect(url, { retry: { baseMs: 1, maxMs: 10 } })
  context.cleanup(() => client.close())
  const refused = gate()
  client.onError(({ code }) => code === 'AGENT_NOT_FOUND' && refused.resolve())
  const run = client.agent(id).prompt('go')
  await began.promise
  await first.close({ detach: true })
  lives.count += 1
  const start = async (store: Store, definitions: readonly (typeof definition)[]) => {
    const runtime = await createRuntime({ store })
    context.cleanup(() => runtime.close())
    await runtime.serve({ port, definitions, limits: { drainMs: 50 } })
    return runtime
  }
  const back = (): Promise<void> =>
    new Promise((resolve) => {
      if (client.status === 'open') return resolve()
      client.onStatus((status) => status === 'open' && resolve())
    })
  return { folder, definition, run, start, refused, back }
}

describe('a client that comes back to a server whose application resumes its agent later', (it) => {
  it('waits for that where the server does not know the agent yet', patient, async (context) => {
    const { folder, definition, run, start, refused } = await cutOff(context)
    const runtime = await start(folder.store(), [])
    await refused.promise
    await runtime.resume('a1', definition)
    const { stopReason, text } = await run.result
    assert.equal([stopReason, text], ['stop', 'done'])
  })

  it('waits for the application, which is at it', patient, async (context) => {
    const { folder, definition, run, start, back } = await cutOff(context)
    const [asked, free] = [gate(), gate()]
    const inner = folder.store()
    const store: Store = {
      append: (...given) => inner.append(...given),
      read: (...given) => inner.read(...given),
      list: () => inner.list(),
      open: async (...given) => {
        asked.resolve()
        await free.promise
        return inner.open(...given)
      },
      close: () => inner.close(),
    }
    const runtime = await start(store, [definition])
    const resumed = runtime.resume('a1', definition)
    await asked.promise
    await back()
    const settled = run.result.then(({ error }) => error?.code ?? 'ended')
    const turns = async (): Promise<string> => {
      for (let turn = 0; turn < 300; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      return 'waits'
    }
    assert.is(await Promise.race([settled, turns()]), 'waits')
    free.resolve()
    await resumed
    assert.is((await run.result).text, 'done')
  })
})
