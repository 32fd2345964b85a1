import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { Directory } from '../../../src/inspector/model/sessions/directory.ts'
import { FrameBatch } from '../../../src/inspector/model/agent/frameBatch.ts'
import { noUsage } from '../../../../../src/protocol/messages.ts'
import { recordVersion } from '../../../../../src/protocol/records.ts'
import { simulatedClock } from '../../../../evaluation/src/testing/simulatedClock.ts'
import { lastingStore, serveAgents } from '../../../../bridge/test/server/bridgeHarness.ts'
import { created, fill } from '../../../../sessions/test/sessionLogs.ts'
import { assert, describe, type CaseContext } from '../../../../../test/support/suite.ts'

interface Readable<T> {
  readonly value: T
  subscribe(listener: (value: T) => void): () => void
}

/** Resolves once the value of a signal fits. */
function until<T>(signal: Readable<T>, fits: (value: T) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const forget = signal.subscribe((value) => {
      if (!fits(value)) return
      resolve()
      queueMicrotask(() => forget())
    })
  })
}

const inRun = (id: string) => ({ v: recordVersion, time: 0, runId: `${id}/r0`, turnIndex: 0 }) as const

/** A page's directory of a server with sessions: `cut`, whose process died in its run, and `done`. */
async function opened(context: CaseContext) {
  const tester = defineAgent({ name: 'tester', model: policyModel(() => 'yes') })
  const store = lastingStore()
  const begins = { type: 'run.start', cause: 'prompt', requestId: 'x', limits: {} } as const
  await fill(store, {
    cut: [created('cut'), { ...inRun('cut'), seq: 2, ...begins }],
    done: [
      created('done'),
      { ...inRun('done'), seq: 2, ...begins },
      { ...inRun('done'), seq: 3, type: 'run.end', stopReason: 'stop', turns: 0, usage: noUsage, costUsd: 0 },
    ],
  })
  const serving = await serveAgents(context, [tester], { runtime: { store } })
  const clock = simulatedClock()
  const batch = new FrameBatch((flush) => {
    queueMicrotask(flush)
    return () => {}
  })
  const directory = new Directory(serving.connect(), { batch, clock })
  context.cleanup(() => directory.close())
  await until(directory.isKnown, Boolean)
  await directory.readSessions()
  const ids = (): string[] => (directory.sessions.value ?? []).map(({ agentId }) => agentId)
  return { serving, tester, directory, clock, ids }
}

describe('the sessions of the page', (it) => {
  it('are those that do not run, and so many are left as the server has of them', async (context) => {
    const { serving, tester, directory, ids } = await opened(context)
    assert.equal([ids().length, directory.sessionTotal.value], [2, 2])
    for (let n = 0; n < 5; n += 1) await serving.runtime.spawn(tester, { id: `a${n}` })
    await directory.readSessions()
    assert.equal([ids().length, directory.sessionTotal.value], [2, 2])
  })

  it('say nothing of one that ran since they were read, until they are read again', async (context) => {
    const { serving, tester, directory, clock } = await opened(context)
    const status = () => directory.sessions.value!.find(({ agentId }) => agentId === 'cut')!.status
    assert.equal([status(), directory.settling.value.has('cut')], ['running', false])
    const agent = await serving.runtime.resume('cut', tester)
    await until(directory.agents, (agents) => agents.has('cut'))
    await agent.prompt('x').result
    await agent.close()
    await until(directory.settling, (settling) => settling.has('cut'))
    assert.is(status(), 'running')
    assert.not.ok(directory.settling.value.has('done'))
    await clock.advance(1_000)
    await until(directory.settling, (settling) => !settling.has('cut'))
    assert.is(status(), 'completed')
  })
})
