import * as fc from 'fast-check'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { nodesBehind } from '../../src/conversation/tree/abandonedNodes.ts'
import type { ConversationNode } from '../../src/conversation/tree/node.ts'
import { estimateTokens, type TokenCounter } from '../../src/conversation/limits/tokenCounter.ts'
import { hasCode } from '../../src/protocol/errors.ts'
import type { NodeId } from '../../src/protocol/ids.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { headerLine, lineOf } from '../../packages/sessions/src/exportLines.ts'
import { importSession } from '../../packages/sessions/src/importSession.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { z } from 'zod'
import { calls, quiet, withCode } from '../support/agentHarness.ts'
import { someRuns } from '../support/seeds.ts'
import { assert, describe } from '../support/suite.ts'
import { logOf } from '../../packages/sessions/test/sessionLogs.ts'

/** A log with reverts, undoing, prunes, pins, grafts and a compaction. */
async function manyKinds(): Promise<LogRecord[]> {
  const store = memoryStore()
  const runtime = await createRuntime({ store })
  const input = z.looseObject({})
  const revert = { category: 'failure', step: 'n5', summary: 's', undo: true }
  const again = { category: 'failure', step: 'n3', summary: 't' }
  const definition = defineAgent({
    name: 'a',
    model: scriptedModel([
      calls('c', 'look', 'look'),
      calls('d', 'look'),
      calls('e', 'put'),
      calls('f', ['revert_to_state', revert]),
      calls('g', 'look'),
      calls('h', ['revert_to_state', again]),
      calls('i', 'look'),
      'done',
      calls('j', 'look'),
      'done',
      'done',
    ]),
    tools: [
      defineTool({ name: 'look', description: 'Looks.', input, effects: 'none', run: () => 'r'.repeat(400) }),
      defineTool({
        name: 'put',
        description: 'Puts.',
        input,
        effects: 'reversible',
        receipt: z.object({}),
        run: (_, { keep }) => {
          keep({})
          return 'put'
        },
        undo: async () => {},
      }),
    ],
    braking: { revert: { undo: true, onUserMessage: 'rebase' }, prune: true, graft: true },
  })
  const agent = await runtime.spawn(definition, { id: 'a' })
  const has = async (type: LogRecord['type']): Promise<void> => {
    while (!(await logOf(store, 'a')).some((record) => record.type === type)) await quiet()
  }
  await agent.prompt('one').result
  agent.pin('n3')
  await has('pin.applied')
  await agent.prompt('two').result
  agent.prune({ steps: [`n${agent.conversation.trunk().at(-3)!.id}`], memo: 'm' })
  await has('prune.applied')
  agent.graft(['n6'])
  await has('graft.applied')
  agent.compact()
  await has('compaction.end')
  await agent.prompt('three').result
  await agent.durable()
  const records = await logOf(store, 'a')
  await runtime.close()
  return records
}

const records = await manyKinds()

/** Counts what a fold costs, and ends one that costs too much. */
function countingCounter(most: number): TokenCounter {
  let left = most
  const spend = <A, R>(count: (given: A) => R) => {
    return (given: A): R => {
      left -= 1
      if (left < 0) throw new Error('the fold never ends')
      return count(given)
    }
  }
  return { ...estimateTokens, text: spend(estimateTokens.text), message: spend(estimateTokens.message) }
}

type Path = readonly (string | number)[]

/** Where a log names nodes, steps and numbers. */
function places(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return typeof value === 'number' ? [path] : []
  const within = Object.entries(value).flatMap(([key, inner]) => places(inner, [...path, key]))
  return Array.isArray(value) ? [path, ...within] : within
}

const all = places(records).filter((path) => !['time', 'v', 'seq'].includes(String(path.at(-1))) && path.length > 1)

function changed(path: Path, change: (old: unknown) => unknown): LogRecord[] {
  const log = structuredClone(records)
  let holder = log as unknown as Record<string | number, unknown>
  for (const key of path.slice(0, -1)) holder = holder[key] as Record<string | number, unknown>
  holder[path.at(-1)!] = change(holder[path.at(-1)!])
  return log
}

const other = fc.constantFrom<(old: unknown) => unknown>(
  (old) => (typeof old === 'number' ? old + 1 : []),
  (old) => (typeof old === 'number' ? Math.max(0, old - 1) : [...(old as unknown[]), ...(old as unknown[])]),
  (old) => (typeof old === 'number' ? 1e9 : (old as unknown[]).toReversed()),
  (old) => (typeof old === 'number' ? 1 : [1, 2, 3, 4, 5, 6, 7, 8]),
  (old) => (typeof old === 'number' ? 9 : Array.from({ length: 40 }, (_, id) => id + 1)),
)

function readAll(log: readonly LogRecord[]): void {
  const conversation = rebuildConversation(log, { counter: countingCounter(40 * log.length) })
  assert.ok(conversation.lastNodeId <= 2 * log.length, 'ids follow one another')
  for (const nodes of [conversation.log(), conversation.trunk(), conversation.abandoned()])
    assert.ok(nodes.length <= conversation.lastNodeId)
}

describe('a log that somebody changed', (it) => {
  it('is read as it is, with everything in it', () => {
    const types = new Set(records.map(({ type }) => type))
    for (const type of ['revert.applied', 'undo.end', 'prune.applied', 'pin.applied', 'graft.applied'] as const)
      assert.ok(types.has(type), type)
    readAll(records)
  })

  it('is refused or read, at a cost that its length bounds', { timeoutMs: 20_000 }, () => {
    const property = fc.property(fc.constantFrom(...all), other, (path, change) => {
      try {
        readAll(changed(path, change))
      } catch (thrown) {
        assert.ok(hasCode(thrown, 'LOG_CORRUPT'), `${path.join('.')}: ${String(thrown)}`)
      }
    })
    fc.assert(property, { seed: 34, numRuns: someRuns(1_500) })
  })

  it('is refused for a tag that abandons itself, what is newer, or what it does not take off the trunk', () => {
    const at = records.findIndex((record) => record.type === 'revert.applied' && record.applied)
    const record = records[at]!
    assert.ok(record.type === 'revert.applied' && record.applied)
    const { target, tag } = record
    for (const abandoned of [[target], [target, ...tag.abandoned], [...tag.abandoned, 1e9], tag.abandoned.slice(1), []])
      assert.throws(
        () => readAll(changed([at, 'tag', 'abandoned'], () => abandoned)),
        withCode('LOG_CORRUPT'),
        String(abandoned),
      )
  })

  it('is refused for ids that jump, whatever has them', async () => {
    for (const type of ['message.added', 'reply.end'] as const) {
      const at = records.findLastIndex((record) => record.type === type)
      const log = changed([at, 'nodeId'], () => 1e9).slice(0, at + 1)
      assert.throws(() => readAll(log), withCode('LOG_CORRUPT'), type)
      const store = memoryStore()
      const lines = [headerLine('a', ['a']), ...log.map((record) => lineOf({ agentId: 'a', record }))]
      await assert.rejects(importSession(store, lines), withCode('LOG_CORRUPT'))
      assert.equal(await store.list(), [])
    }
  })

  it('has each node behind a tag once, even where tags lead back to themselves', () => {
    const nodes = new Map<NodeId, ConversationNode>()
    for (const id of [1, 2, 3])
      nodes.set(id, { id, tags: [{ abandoned: [1, 2, 3] }, { abandoned: [3, 3, id] }] } as never)
    let looks = 0
    const find = (id: NodeId): ConversationNode | undefined => {
      looks += 1
      if (looks > 100) throw new Error('it never ends')
      return nodes.get(id)
    }
    assert.equal(
      nodesBehind([3, 2], find).map(({ id }) => id),
      [1, 2, 3],
    )
    assert.is(looks, 3)
  })
})
