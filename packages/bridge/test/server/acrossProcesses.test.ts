import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { sqliteStore } from '../../../sqlite/src/sqliteStore.ts'
import { assert, type CaseContext, describe } from '../../../../test/support/suite.ts'
import { Heard, logOf, serveAgents, type Serving } from './bridgeHarness.ts'
import { hanging } from './hangingAgent.ts'

/** Two servers, as of two processes, on one SQLite file. */
async function twoServers(context: CaseContext, definitions: readonly AgentDefinition[]): Promise<[Serving, Serving]> {
  const dir = await mkdtemp(join(tmpdir(), 'escapement-across-'))
  context.cleanup(() => rm(dir, { recursive: true, force: true }))
  const start = (): Promise<Serving> =>
    serveAgents(context, definitions, { runtime: { store: sqliteStore(join(dir, 'agents.db')) } })
  return [await start(), await start()]
}

const echo = defineAgent({ name: 'echo', model: policyModel(({ messages }) => `${messages.length} so far`) })

const patient = { timeoutMs: 10_000 }

describe('a client of one process, of an agent that another one has', (it) => {
  it('is told where it is, whatever it commands, and nothing hangs', patient, async (context) => {
    const [here, there] = await twoServers(context, [echo])
    await here.runtime.open('a1', echo)
    const bare = await there.dial({ hello: {} })
    for (const command of [
      { type: 'agent.prompt', agentId: 'a1', content: 'hello' },
      { type: 'agent.abort', agentId: 'a1' },
      { type: 'agent.stop', agentId: 'a1' },
      { type: 'agent.spawn', definition: 'echo', agentId: 'a1' },
    ]) {
      const answer = await bare.ask(command)
      assert.is(answer.type === 'error' && answer.code, 'AGENT_ELSEWHERE')
      assert.is(answer.type === 'error' && answer.elsewhere?.url, here.server.url)
      assert.not.match((answer as { message: string }).message, /ws:|process \d/)
    }
    const refusal: unknown = await there
      .connect()
      .agent('a1')
      .abort()
      .then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
    assert.instance(refusal, RuntimeError)
    assert.is((refusal as RuntimeError).data?.url, here.server.url)
    const url = (refusal as RuntimeError).data!.url!
    assert.is((await there.connect({}, url).agent('a1').prompt('hello').result).text, '1 so far')
  })

  it('sees its snapshot, and follows every record of it without gap or repeat', patient, async (context) => {
    const [here, there] = await twoServers(context, [echo])
    const local = await here.runtime.open('a1', echo)
    await local.prompt('one').result
    const agent = there.connect().agent('a1')
    const heard = new Heard()
    agent.subscribe(heard.listen, { fromSeq: 1 })
    assert.is((await agent.snapshot()).seq, local.lastSeq)
    for (const words of ['two', 'three', 'four']) {
      await local.prompt(words).result
      await heard.until((event) => event.type === 'run.end' && event.seq === local.lastSeq)
    }
    assert.equal(heard.logged, await logOf(here.store, 'a1'))
    assert.is((await agent.snapshot()).seq, local.lastSeq)
  })

  it(
    'goes on with it in the middle of a run when it comes here, and when it leaves again',
    patient,
    async (context) => {
      const { definition, isIn } = hanging()
      const [here, there] = await twoServers(context, [definition])
      const [near, far] = [new Heard(), new Heard()]
      await here.runtime.open('a1', definition)
      const agent = here.connect().agent('a1')
      agent.subscribe(near.listen, { fromSeq: 1 })
      there.connect().agent('a1').subscribe(far.listen, { fromSeq: 1 })
      const run = agent.prompt('go')
      await isIn.promise
      await here.runtime.detach('a1')
      const moved = await there.runtime.open('a1', definition)
      assert.is((await run.result).text, 'all done')
      await moved.prompt('again').result
      const ended = (event: { readonly type: string; readonly seq: number }): boolean =>
        event.type === 'run.end' && event.seq === moved.lastSeq
      await Promise.all([near.until(ended), far.until(ended)])
      const log = await logOf(there.store, 'a1')
      assert.equal(near.logged, log)
      assert.equal(far.logged, log)

      await there.runtime.detach('a1')
      const back = await here.runtime.open('a1', definition)
      await back.prompt('home').result
      const home = (event: { readonly type: string; readonly seq: number }): boolean =>
        event.type === 'run.end' && event.seq === back.lastSeq
      await Promise.all([near.until(home), far.until(home)])
      assert.equal(near.logged, await logOf(there.store, 'a1'))
      assert.equal(far.logged, near.logged)
    },
  )

  it('reads the log of one that was unloaded here and is driven there', patient, async (context) => {
    const dir = await mkdtemp(join(tmpdir(), 'escapement-across-'))
    context.cleanup(() => rm(dir, { recursive: true, force: true }))
    const file = join(dir, 'agents.db')
    const here = await serveAgents(context, [echo], { runtime: { store: sqliteStore(file), idleUnloadMs: 5 } })
    const there = await serveAgents(context, [echo], { runtime: { store: sqliteStore(file) } })
    const local = await here.runtime.spawn(echo, { id: 'a1' })
    await local.prompt('one').result
    const moved = await there.runtime.open('a1', echo, { wait: 5_000 })
    const agent = here.connect().agent('a1')
    const heard = new Heard()
    agent.subscribe(heard.listen, { fromSeq: 1 })
    await moved.prompt('two').result
    await heard.until((event) => event.type === 'run.end' && event.seq === moved.lastSeq)
    assert.equal(heard.logged, await logOf(there.store, 'a1'))
    assert.is((await agent.snapshot()).seq, moved.lastSeq)
  })
})
