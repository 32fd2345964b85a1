import { MemorySnapshots } from '../../stores/src/memory/memorySnapshots.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { lateStoreOf } from '../../../test/support/lateStore.ts'
import { ends, logOf } from '../../../test/support/lives.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { inner, noting, scripted } from './scriptedAgent.ts'

const large = 'ä'.repeat(50_000)
const code = 'const text = await tools.read({ to: "a" }); return [text.length, await tools.pay({ to: "b" })]'
const coder = scripted(code, [noting('read', [], { run: () => large }), noting('pay', [], { effects: 'irreversible' })])

/** One life of the agent, from the records of a log. */
async function life(context: CaseContext, log: readonly LogRecord[], snapshots: MemorySnapshots) {
  const store = { ...(await lateStoreOf(log.length === 0 ? {} : { a1: log })), snapshots }
  const runtime = await createRuntime({ store })
  context.cleanup(() => runtime.close())
  const agent =
    log.length === 0 ? await runtime.spawn(coder, { id: 'a1' }) : await runtime.resume('a1', coder, { continue: true })
  const over = ends(agent)
  if (log.length === 0) agent.prompt('go')
  await over
  await agent.durable()
  return { log: await logOf(store, 'a1'), said: textOf(agent.conversation.trunk().at(-1)!.message.content) }
}

describe('a large result of a call of a script', (it) => {
  it('is kept beside the log, and given to the script again from there', async (context) => {
    const snapshots = new MemorySnapshots()
    const { log, said } = await life(context, [], snapshots)
    assert.is(said, 'It said: [50000,"pay b"]')
    const [end] = inner(log, 'inner.end')
    const { id, bytes } = end!.apart!.artifact
    assert.equal([end!.value, bytes], [undefined, 100_002])
    assert.is(JSON.parse(new TextDecoder().decode(await snapshots.get('a1', id))), large)
    const until = log.findIndex(({ type }) => type === 'inner.end') + 1
    assert.is((await life(context, log.slice(0, until), snapshots)).said, said)
    const lost = await life(context, log.slice(0, until), new MemorySnapshots())
    assert.match(lost.said, /The result of call 1, which is kept beside the log, is no longer there\./)
  })
})
