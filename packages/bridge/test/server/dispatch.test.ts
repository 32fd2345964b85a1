import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { connect } from '../../src/client/connect.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { Dispatch } from '../../src/server/dispatch.ts'
import type { ServeOptions } from '../../src/server/serveOptions.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { openGate } from '../../../../test/support/gate.ts'
import { dial } from './bridgeHarness.ts'
import { sqliteStore } from '../../../sqlite/src/sqliteStore.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'

const coder = defineAgent({ name: 'coder', model: policyModel(() => 'Here.') })

/** Takes commands elsewhere and remembers them. */
class Elsewhere implements Dispatch {
  readonly heard: { readonly what: unknown; readonly requestId: string }[] = []
  refusal: RuntimeError | undefined

  async command(what: Parameters<Dispatch['command']>[0], requestId: string) {
    this.heard.push({ what, requestId })
    if (this.refusal !== undefined) throw this.refusal
    return {
      ended: Promise.resolve({ stopReason: 'error' as const, error: { code: 'AGENT_STOPPED', message: 'It has.' } }),
    }
  }

  async begin(what: Parameters<Dispatch['begin']>[0], requestId: string) {
    this.heard.push({ what, requestId })
    return 1
  }
}

async function served({ cleanup }: CaseContext, options: ServeOptions = {}, store: Store = memoryStore()) {
  const runtime = await createRuntime({ store })
  cleanup(() => runtime.close())
  const dispatch = new Elsewhere()
  const server = await runtime.serve({ definitions: [coder], dispatch, ...options })
  const client = connect(server.url, options.tokens === undefined ? {} : { token: Object.keys(options.tokens)[0]! })
  cleanup(() => client.close())
  return { runtime, dispatch, client, server }
}

/** The next record of an agent that a client reads from there on. */
async function next(events: AsyncIterable<AgentEvent>): Promise<number> {
  for await (const { seq } of events) return seq
  return assert.unreachable()
}

describe('a server that dispatches commands', (it) => {
  it('takes them to whoever carries them out, under the id of the request, and not to its own agents', async (context) => {
    const { runtime, dispatch, client } = await served(context)
    await runtime.spawn(coder, { id: 'a1' })
    await client.agent('a1').steer('Look there.')
    const { what, requestId } = dispatch.heard[0]!
    const { type, agentId } = what as { readonly type: string; readonly agentId: string }
    assert.equal([type, agentId], ['agent.steer', 'a1'])
    assert.match(requestId, /^[^/]+\/\w+$/)
    assert.is(runtime.agent('a1')!.state, 'idle')
    assert.is(runtime.agent('a1')!.lastSeq, 1)
  })

  it('takes none there of a client that is no longer let in once its agent has been found', async (context) => {
    const inner = memoryStore()
    const reading = openGate()
    const store: Store = {
      ...inner,
      async *read(...range) {
        await reading.pass()
        yield* inner.read(...range)
      },
    }
    const tokens: Record<string, 'admin'> = { 'a-token-of-some-length': 'admin' }
    const { runtime, dispatch, server } = await served(context, { tokens }, store)
    await (await runtime.spawn(coder, { id: 'a1' })).close()
    const bare = await dial(server.url)
    context.cleanup(() => bare.socket.terminate())
    bare.send({ type: 'hello', token: 'a-token-of-some-length' })
    const reached = reading.shut()
    const asked = bare.ask({ type: 'agent.steer', agentId: 'a1', content: 'Look there.' })
    await reached
    delete tokens['a-token-of-some-length']
    reading.open()
    const answer = await asked
    assert.equal([answer.type, 'code' in answer && answer.code], ['error', 'BRIDGE_UNAUTHORISED'])
    assert.equal(dispatch.heard, [])
  })

  it('tells how a run ended that never began', async (context) => {
    const { client, runtime } = await served(context)
    await runtime.spawn(coder, { id: 'a1' })
    const { stopReason, error } = await client.agent('a1').prompt('Do it.').result
    assert.equal({ stopReason, code: error?.code }, { stopReason: 'error', code: 'AGENT_STOPPED' })
  })

  for (const [role, says] of [
    ['drive', 'It has.'],
    ['talk', 'It failed.'],
  ] as const)
    it(`tells ${role === 'talk' ? 'no words of it' : 'in its words'} to who has the role "${role}" why such a run ended`, async (context) => {
      const { client, runtime } = await served(context, { tokens: { 'a-token-of-some-length': role } })
      await runtime.spawn(coder, { id: 'a1' })
      const { error } = await client.agent('a1').prompt('Do it.').result
      assert.is(error?.code, 'AGENT_STOPPED')
      assert.match(error!.message, says)
    })

  it('passes on a refusal', async (context) => {
    const { client, dispatch } = await served(context)
    dispatch.refusal = new RuntimeError('CALL_NOT_PENDING', 'No such call.')
    const refused = await client
      .agent('a1')
      .decide('c1', 'approve')
      .catch((thrown: unknown) => thrown)
    assert.is((refused as RuntimeError).code, 'CALL_NOT_PENDING')
  })

  it('has agents begun elsewhere, with the metadata of who spawns them', async (context) => {
    const tokens = { 'a-token-of-some-length': { role: 'admin' as const, metadata: { user: 'ada' } } }
    const { client, dispatch, runtime } = await served(context, { tokens })
    const agent = await client.spawn('coder')
    assert.equal(dispatch.heard[0]!.what, { id: agent.id, definition: 'coder', metadata: { user: 'ada' } })
    assert.equal(runtime.agents(), [])
    const wrong = await client.spawn('writer').catch((thrown: unknown) => thrown)
    assert.is((wrong as RuntimeError).code, 'INVALID_OPTION')
    assert.is(dispatch.heard.length, 1)
  })

  it('takes nothing from who may not say it', async (context) => {
    const tokens = { 'a-token-of-some-length': { role: 'admin' as const, agents: ['mine'] } }
    const { client, dispatch } = await served(context, { tokens })
    const refused = await client
      .agent('other')
      .abort()
      .catch((thrown: unknown) => thrown)
    assert.is((refused as RuntimeError).code, 'BRIDGE_FORBIDDEN')
    assert.equal(dispatch.heard, [])
  })

  it('reads on in the log where an agent that it had is driven elsewhere', async (context) => {
    const dir = await mkdtemp(join(tmpdir(), 'escapement-dispatch-'))
    context.cleanup(() => rm(dir, { recursive: true, force: true }))
    const file = join(dir, 'agents.db')
    const { client, runtime, server } = await served(context, {}, sqliteStore(file))
    await runtime.spawn(coder, { id: 'a1' })
    const other = await createRuntime({ store: sqliteStore(file) })
    context.cleanup(() => other.close())
    const taken = await other.open('a1', coder, { takeOver: true })
    await taken.prompt('Go on there.').result
    // This process does not know of that.
    assert.is(runtime.agent('a1')!.lastSeq, 1)
    const { lastSeq } = taken
    assert.is(await next(client.agent('a1').events({ fromSeq: lastSeq })), lastSeq)
    // Others may read it here, and be behind.
    const [reader, comer, early] = [connect(server.url), connect(server.url), connect(server.url)]
    for (const one of [reader, comer, early]) context.cleanup(() => one.close())
    const isRead = Promise.withResolvers<void>()
    reader.agent('a1').subscribe(() => isRead.resolve(), { fromSeq: lastSeq })
    await isRead.promise
    await taken.prompt('Go on.').result
    const now = taken.lastSeq
    assert.is(await next(comer.agent('a1').events({ fromSeq: now })), now)
    const refused = Promise.withResolvers<string>()
    early.onError(({ code }) => refused.resolve(code))
    early.agent('a1').subscribe(() => {}, { fromSeq: now + 2 })
    assert.is(await refused.promise, 'INVALID_OPTION')
  })

  it('keeps what is in no log to itself', async (context) => {
    const { client, dispatch } = await served(context)
    const agent = await client.spawn('coder', { incognito: true })
    const { text } = await agent.prompt('Where are you?').result
    assert.is(text, 'Here.')
    assert.equal(dispatch.heard, [])
  })
})
