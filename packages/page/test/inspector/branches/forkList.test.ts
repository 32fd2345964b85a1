import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { Directory } from '../../../src/inspector/model/sessions/directory.ts'
import { ForkList } from '../../../src/inspector/model/branches/forkList.ts'
import { FrameBatch } from '../../../src/inspector/model/agent/frameBatch.ts'
import { simulatedClock } from '../../../../evaluation/src/testing/simulatedClock.ts'
import { serveAgents } from '../../../../bridge/test/server/bridgeHarness.ts'
import { quiet } from '../../../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../../../test/support/suite.ts'

const tester = defineAgent({ name: 'tester', model: policyModel(() => 'yes') })

/** The forks of agent `a`, as a page lists them, and how often the server was asked for them. */
async function opened(context: CaseContext) {
  const serving = await serveAgents(context, [tester])
  const agent = await serving.runtime.spawn(tester, { id: 'a' })
  await agent.prompt('One').result
  const clock = simulatedClock()
  const batch = new FrameBatch((flush) => {
    queueMicrotask(flush)
    return () => {}
  })
  const page = serving.connect()
  const directory = new Directory(page, { batch, clock })
  context.cleanup(() => directory.close())
  const asked: unknown[] = []
  const client = { sessions: (options: object) => (asked.push(options), page.sessions(options)) }
  const list = new ForkList({ client, agentId: 'a', roots: directory.roots, clock })
  context.cleanup(() => list.close())
  const other = serving.connect()
  const until = async (fits: () => boolean): Promise<void> => {
    while (!fits()) await quiet()
  }
  await until(() => asked.length === 1 && directory.isKnown.value)
  await quiet()
  const forks = (): string[] => list.forks.value.map(({ agentId }) => agentId).toSorted()
  return { serving, other, clock, directory, list, asked, forks, until }
}

describe('the forks of an agent on the page', (it) => {
  it('are listed as they come, whoever makes them', async (context) => {
    const { other, clock, directory, forks, until } = await opened(context)
    await clock.advance(1_000)
    await quiet()
    assert.equal(forks(), [])
    const { agentId } = await other.agent('a').fork('n2')
    // Nobody uses it yet, so it does not run.
    assert.is(directory.agents.value.has(agentId), false)
    await clock.advance(10_000)
    await until(() => forks().length === 1)
    assert.equal(forks(), [agentId])
    const used = await other.agent('a').fork('n1')
    await other.agent(used.agentId).prompt('Two').result
    await until(() => directory.agents.value.has(used.agentId))
    await clock.advance(1_000)
    await until(() => forks().length === 2)
    assert.equal(forks(), [agentId, used.agentId].toSorted())
  })

  it('are asked for once where many agents come', async (context) => {
    const { serving, clock, directory, asked, until } = await opened(context)
    await clock.advance(1_000)
    await quiet()
    const before = asked.length
    for (let i = 0; i < 20; i += 1) await serving.runtime.spawn(tester, { id: `b${i}` })
    await until(() => directory.agents.value.size === 21)
    await clock.advance(1_000)
    await quiet()
    assert.is(asked.length, before + 1)
    await clock.advance(9_000)
    await quiet()
    assert.is(asked.length, before + 1)
  })

  it('are asked for no more once another agent is shown', async (context) => {
    const { serving, clock, directory, list, asked, until } = await opened(context)
    await clock.advance(1_000)
    await quiet()
    await serving.runtime.spawn(tester, { id: 'b' })
    await until(() => directory.agents.value.has('b'))
    const before = asked.length
    list.close()
    await clock.advance(10_000)
    await quiet()
    assert.is(asked.length, before)
  })
})
