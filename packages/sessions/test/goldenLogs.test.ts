import { copyFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { capturedRequests } from '../../../src/conversation/request/captureRequest.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { logRecordSchema, recordVersion, type LogRecord } from '../../../src/protocol/records.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { parseRecord } from '../../../src/protocol/upgradeRecord.ts'
import { listSessions } from '../src/listSessions.ts'
import { importSession } from '../src/importSession.ts'
import { loadSession } from '../src/loadSession.ts'
import { fileStore } from '../../stores/src/fileStore.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { readAll } from '../../evaluation/src/testing/contractDemands.ts'
import { scriptedModel } from '../../evaluation/src/testing/scriptedModel.ts'
import { tool, withCode } from '../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { heldCalls } from '../../../test/support/heldCalls.ts'

const golden = join(import.meta.dirname, 'golden')
const agentIds = ['fork', 'worker', 'worker.1']

/** A store with logs as an earlier version of the library wrote them. */
async function storeOf(version: string, { cleanup }: CaseContext): Promise<{ store: Store; folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'escapement-golden-'))
  cleanup(() => rm(folder, { recursive: true, force: true }))
  for (const name of await readdir(join(golden, version)))
    await copyFile(join(golden, version, name), join(folder, name))
  return { store: fileStore(folder), folder }
}

/** Descriptions of sessions by the versions that wrote their logs. */
const told = JSON.parse(await readFile(join(golden, 'sessions.json'), 'utf8')) as Readonly<Record<string, unknown>>

async function tell(store: Store, agentId: string): Promise<unknown> {
  const { status, usage, costUsd, runs, conversation } = await loadSession(store, agentId)
  const nodes = new Map(conversation.log().map((node) => [node.id, node]))
  const trunk: unknown[] = []
  for (let at = conversation.head; at !== null; at = nodes.get(at)!.parentId)
    trunk.unshift([at, nodes.get(at)!.message.role])
  return {
    status,
    usage,
    costUsd,
    runs: runs.map((run) => ({
      id: run.id,
      cause: run.cause,
      status: run.status,
      turns: run.turns.length,
      usage: run.usage,
      costUsd: run.costUsd,
    })),
    trunk,
    abandoned: conversation.abandoned().map(({ id }) => id),
    tags: conversation.tags().map(({ nodeId, tag }) => [nodeId, tag.text]),
  }
}

describe('logs of version 1', (it) => {
  it('are read as records of today', async (context) => {
    const { store } = await storeOf('version1', context)
    assert.equal((await store.list()).toSorted(), agentIds)
    for (const agentId of agentIds) {
      const records = await readAll(store, agentId)
      assert.ok(records.length > 2)
      for (const record of records) {
        assert.is(record.v, recordVersion)
        assert.equal(logRecordSchema().parse(record), record)
        assert.not('loopId' in record)
      }
    }
    const [child] = await readAll(store, 'worker.1')
    assert.is(child?.type === 'agent.created' && child.parent?.runId, 'worker/r0')
  })

  it('tell of their sessions what they told then', async (context) => {
    const { store } = await storeOf('version1', context)
    for (const agentId of Object.keys(told)) assert.equal(await tell(store, agentId), told[agentId])
    assert.is([...capturedRequests(await readAll(store, 'worker'))].length, 13)
  })

  it('are gone on with: an approval that waited is decided, and the log holds records of both versions', async (context) => {
    const { store, folder } = await storeOf('version1', context)
    const runtime = await createRuntime({ store })
    context.cleanup(() => runtime.close())
    const worker = defineAgent({
      name: 'worker',
      model: scriptedModel(['deployed']),
      tools: [tool('look', () => 'looked'), tool('deploy', () => 'deployed', { needsApproval: true })],
      braking: { revert: true, prune: true },
    })
    const agent = await runtime.resume('worker', worker)
    assert.is(agent.pause?.type, 'approvals')
    const end = new Promise((resolve) => agent.subscribe((event) => event.type === 'run.end' && resolve(event.runId)))
    agent.decide(heldCalls(agent)[0]!, 'approve')
    assert.is(await end, 'worker/r4')
    await agent.durable()
    await runtime.close()
    const versions = (await readFile(join(folder, 'worker.jsonl'), 'utf8')).trim().split('\n')
    assert.equal([...new Set(versions.map((line) => (JSON.parse(line) as { v: number }).v))], [1, recordVersion])
    const { runs } = await loadSession(fileStore(folder), 'worker')
    assert.is(runs.at(-1)?.status, 'completed')
  })

  it('are refused when a store hands them out as they were written', async () => {
    const lines = (await readFile(join(golden, 'version1', 'worker.jsonl'), 'utf8')).trim().split('\n')
    const old = lines.map((line) => JSON.parse(line) as LogRecord)
    const { page: _, ...plain } = memoryStore()
    const store: Store = {
      ...plain,
      list: async () => ['worker'],
      read: async function* () {
        yield* old
      },
    }
    await assert.rejects(loadSession(store, 'worker'), withCode('LOG_VERSION'))
    assert.equal(
      (await listSessions(store)).map(({ error }) => error?.code),
      ['LOG_VERSION'],
    )
    const upgraded = {
      ...store,
      read: async function* () {
        yield* old.map(parseRecord)
      },
    }
    assert.is((await loadSession(upgraded, 'worker')).id, 'worker')
  })

  it('come in from an exported file', async () => {
    const store = memoryStore()
    const { agentIds: imported } = await importSession(
      store,
      await readFile(join(golden, 'exportedFork.jsonl'), 'utf8'),
    )
    assert.equal(imported, ['worker', 'fork'])
    assert.equal(await tell(store, 'fork'), told['fork'])
  })
})
